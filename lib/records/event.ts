import type * as v from 'valibot'
import type { Context } from '../context.ts'
import { Bool, Id, Integer, listOf, oneOf, orNull, record, Text, Timestamp, Url } from '../fields.ts'
import { type PostRow, posts } from '../storage/tables/content.ts'
import type { EventRow } from '../storage/tables/events.ts'
import { members, spaces } from '../storage/tables/members.ts'
import { creatorsOf, Member, presentMember, User } from './member.ts'
import { Space } from './space.ts'

export const EventType = oneOf('local', 'live_chat', 'online_meeting', 'zoom_meeting', 'zoom_webinar', 'webinar', 'local_meetup')
export const Frequency = oneOf('daily', 'weekly', 'monthly', 'yearly')

export const Event = record('EventResponse', {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  post_type: oneOf('event'),
  creator: User,
  images: listOf(Url),
  permalink: Url,
  title: Text,
  description: orNull(Text),
  recurrence_rule: orNull(Text),
  rsvp_enabled: orNull(Bool),
  rsvp_closed: orNull(Bool),
  restricted_event: orNull(Bool),
  post_in_feed: orNull(Bool),
  event_type: EventType,
  starts_at: orNull(Timestamp),
  ends_at: orNull(Timestamp),
  time_zone: orNull(Text),
  location: orNull(Text),
  link: orNull(Url),
  frequency: orNull(Frequency),
  interval: orNull(Integer),
})
export type EventRecord = v.InferOutput<typeof Event>

/** An event as webhooks and RSVPs carry it. */
export const EventPayload = record('EventCreatePayload', {
  id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  post_type: oneOf('event'),
  space_id: Id,
  creator_id: Id,
  title: Text,
  summary: Text,
  event_type: EventType,
  starts_at: Timestamp,
  ends_at: orNull(Timestamp),
  time_zone: Text,
  location: orNull(Text),
  frequency: orNull(Frequency),
  interval: orNull(Integer),
  rsvp_enabled: Bool,
  rsvp_closed: Bool,
  restricted_event: Bool,
  post_in_feed: Bool,
  creator: Member,
  space: Space,
  images: listOf(Url),
  permalink: Url,
})
export type EventPayloadRecord = v.InferOutput<typeof EventPayload>

export const EventInstance = record('EventInstanceResponse', {
  post_id: Id,
  starts_at: Timestamp,
  ends_at: Timestamp,
  instance_index: Integer,
})

/** The records of some events, with their posts and creators looked up together. */
export async function presentEvents(context: Context, rows: readonly EventRow[]): Promise<EventRecord[]> {
  const eventPosts = await context.tx.find(posts, { where: { id: rows.map((row) => row.id) } })
  const postOf = new Map(eventPosts.map((post) => [post.id, post]))
  const creators = await creatorsOf(
    context,
    eventPosts.map((post) => post.creator_id),
  )
  return rows.map((row) => {
    const post = postOf.get(row.id)
    const creator = post && creators.get(post.creator_id)
    if (!post || !creator) throw new Error(`event ${row.id} has lost its post or its creator`)
    return {
      ...shared(context, row, post),
      creator,
      description: post.description,
      recurrence_rule: row.recurrence_rule,
      link: row.link,
    }
  })
}

/** An event as its webhook carries it. */
export async function eventPayload(context: Context, row: EventRow): Promise<EventPayloadRecord> {
  const post = await context.tx.get(posts, row.id)
  const creator = post && (await context.tx.get(members, post.creator_id))
  const space = post && (await context.tx.get(spaces, post.space_id))
  if (!post || !creator || !space) throw new Error(`event ${row.id} has lost its post, its creator or its space`)
  return {
    ...shared(context, row, post),
    space_id: post.space_id,
    creator_id: post.creator_id,
    summary: post.summary,
    creator: presentMember(context, creator),
    space,
  }
}

const shared = (context: Pick<Context, 'permalink'>, row: EventRow, post: PostRow) => ({
  id: row.id,
  created_at: row.created_at,
  updated_at: post.updated_at,
  post_type: 'event' as const,
  images: [...post.images],
  permalink: context.permalink('events', row.id),
  title: post.title,
  rsvp_enabled: row.rsvp_enabled,
  rsvp_closed: row.rsvp_closed,
  restricted_event: row.restricted_event,
  post_in_feed: row.post_in_feed,
  event_type: row.event_type,
  starts_at: row.starts_at,
  ends_at: row.ends_at,
  time_zone: row.time_zone,
  location: row.location,
  frequency: row.frequency,
  interval: row.interval,
})
