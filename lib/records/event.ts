import type * as v from 'valibot'
import type { Context } from '../context.ts'
import { Bool, describe, Id, Integer, listOf, oneOf, orNull, record, Text, Timestamp, Url } from '../fields.ts'
import { rowsNamed } from '../storage/rows-of.ts'
import { type PostRow, posts } from '../storage/tables/content.ts'
import type { EventRow } from '../storage/tables/events.ts'
import { members, spaces } from '../storage/tables/members.ts'
import { creatorsOf, Member, presentMember, User } from './member.ts'
import { Space } from './space.ts'
import { Permalink, PostId, stamps } from './stamps.ts'

export const EventType = oneOf('local', 'live_chat', 'online_meeting', 'zoom_meeting', 'zoom_webinar', 'webinar', 'local_meetup')
export const Frequency = oneOf('daily', 'weekly', 'monthly', 'yearly')

/** What the records of an event say alike; in some of them a field may be null. */
const about = {
  title: describe(Text, 'The title of the event, on one line.'),
  event_type: describe(EventType, 'Where the event takes place: at a place, in a chat, or in a meeting of a certain kind.'),
  starts_at: describe(Timestamp, 'When the event begins, in UTC; for a series, when its first occurrence begins.'),
  ends_at: describe(
    orNull(Timestamp),
    'When the event ends, in UTC; for a series, when its first occurrence ends. All occurrences last equally long.',
  ),
  time_zone: describe(
    Text,
    'The IANA time zone of the event, such as `Europe/Berlin`. A series keeps the time of day of this zone.',
  ),
  location: describe(orNull(Text), 'The place of the event, in words; null if there is none.'),
  frequency: describe(orNull(Frequency), 'How often the event repeats; null for an event that takes place once.'),
  interval: describe(
    orNull(Integer),
    'The number of days, weeks, months or years from one occurrence to the next; null for an event that takes place once.',
  ),
  rsvp_enabled: describe(Bool, 'Whether members can answer the invitation to the event at all.'),
  rsvp_closed: describe(Bool, 'Whether the event takes no more answers; those that exist stay.'),
  restricted_event: describe(
    Bool,
    'Whether the event is for invited guests. It is stored and shown, and has no effect on who may answer.',
  ),
  post_in_feed: describe(Bool, 'Whether the event is meant to appear in the feed of its space.'),
  images: describe(listOf(Url), 'The addresses of images that belong to the event. The API adds none.'),
}

export const Event = record('EventResponse', {
  ...stamps,
  id: PostId,
  post_type: describe(oneOf('event'), 'Always `event`: an event appears among the posts too.'),
  creator: describe(User, 'The member who created the event; their name stays after they have left.'),
  images: about.images,
  permalink: Permalink,
  title: about.title,
  description: describe(
    orNull(Text),
    'What the event is about, as HTML exactly as it was sent: sanitize it before you show it. Null if there is none.',
  ),
  recurrence_rule: describe(
    orNull(Text),
    'The series as an RRULE of RFC 5545, such as `FREQ=WEEKLY;INTERVAL=2`; null for an event that takes place once.',
  ),
  rsvp_enabled: orNull(about.rsvp_enabled),
  rsvp_closed: orNull(about.rsvp_closed),
  restricted_event: orNull(about.restricted_event),
  post_in_feed: orNull(about.post_in_feed),
  event_type: about.event_type,
  starts_at: orNull(about.starts_at),
  ends_at: about.ends_at,
  time_zone: orNull(about.time_zone),
  location: about.location,
  link: describe(orNull(Url), 'The address of the online meeting or of a page about the event; null if there is none.'),
  frequency: about.frequency,
  interval: about.interval,
})
export type EventRecord = v.InferOutput<typeof Event>

/** An event as webhooks and RSVPs carry it. */
export const EventPayload = record('EventCreatePayload', {
  ...stamps,
  id: PostId,
  post_type: describe(oneOf('event'), 'Always `event`.'),
  space_id: describe(Id, 'The space of the event.'),
  creator_id: describe(Id, 'The member who created the event.'),
  title: about.title,
  summary: describe(Text, 'The first words of the description as plain text, at most 280 characters; empty without one.'),
  event_type: about.event_type,
  starts_at: about.starts_at,
  ends_at: about.ends_at,
  time_zone: about.time_zone,
  location: about.location,
  frequency: about.frequency,
  interval: about.interval,
  rsvp_enabled: about.rsvp_enabled,
  rsvp_closed: about.rsvp_closed,
  restricted_event: about.restricted_event,
  post_in_feed: about.post_in_feed,
  creator: describe(Member, 'The member whom `creator_id` names, as their record is now.'),
  space: describe(Space, 'The space that `space_id` names.'),
  images: about.images,
  permalink: Permalink,
})
export type EventPayloadRecord = v.InferOutput<typeof EventPayload>

export const EventInstance = record('EventInstanceResponse', {
  post_id: describe(Id, 'The event that this is an occurrence of.'),
  starts_at: describe(Timestamp, 'When the occurrence begins, in UTC. Requests name it by this time, as `instance_at`.'),
  ends_at: describe(Timestamp, 'When the occurrence ends, in UTC.'),
  instance_index: describe(Integer, 'The place of the occurrence in the series, from 0.'),
})

/** The records of some events, with their posts and creators looked up together. */
export async function presentEvents(context: Context, rows: readonly EventRow[]): Promise<EventRecord[]> {
  const postOf = await rowsNamed(context.tx, posts, 'id', rows)
  const creators = await creatorsOf(context, [...postOf.values()])
  return rows.map((row) => {
    const post = postOf.get(row.id)
    const creator = post && creators.get(post.creator_id)
    if (!post || !creator) throw new Error(`event ${row.id} refers to a post or a creator that does not exist`)
    return {
      ...shared(context, row, post),
      creator,
      description: post.description,
    }
  })
}

/** An event as its webhook carries it. */
export async function eventPayload(context: Context, row: EventRow): Promise<EventPayloadRecord> {
  const post = await context.tx.get(posts, row.id)
  const creator = post && (await context.tx.get(members, post.creator_id))
  const space = post && (await context.tx.get(spaces, post.space_id))
  if (!post || !creator || !space) throw new Error(`event ${row.id} refers to a post, a creator or a space that does not exist`)
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
  ...row,
  updated_at: post.updated_at,
  post_type: 'event' as const,
  images: [...post.images],
  permalink: context.permalink('events', row.id),
  title: post.title,
})
