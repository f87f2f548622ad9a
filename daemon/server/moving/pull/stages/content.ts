/** Posts of every kind, what belongs to them, and courses. */

import { removeWithDependents } from '../../../../../lib/storage/cascade.ts'
import { comments, courseworks, type PostRow, posts, reactions } from '../../../../../lib/storage/tables/content.ts'
import { events, rsvps } from '../../../../../lib/storage/tables/events.ts'
import { spaces } from '../../../../../lib/storage/tables/members.ts'
import { type ApiRecord, listIn, textOf, within } from '../../api-record.ts'
import { type Stage, stage, under } from '../stage.ts'
import { ensureMember } from './former.ts'

function familyOf({ post_type }: ApiRecord): PostRow['family'] {
  if (post_type === 'event') return 'event'
  return post_type === 'poll' || post_type === 'question' ? 'poll' : 'post'
}

const allPosts = stage({
  name: 'posts',
  group: 'posts',
  list: 'posts.list',
  table: posts,
  shown: () => ({}),
  columns: {
    family: familyOf,
    // Polls and events distinguish no description from an empty one; here both are empty.
    description: (record) => (familyOf(record) === 'post' ? record['description'] : undefined),
  },
})

const allPolls = stage({
  name: 'polls',
  group: 'posts',
  list: 'polls.list',
  table: posts,
  shown: () => ({ family: 'poll' }) as const,
  columns: {
    family: () => 'poll',
    space_id: (record) => within(record, 'space')['id'],
    creator_id: (record) => within(record, 'creator')['id'],
    choices: (record) => {
      const choices = listIn(record, 'choices')
      return choices.length === 0 ? null : choices.map(({ id, text }) => ({ id: textOf(id), text: textOf(text) }))
    },
  },
  inserts: { content_type: () => 'text' },
  related: (tx, record, place) => ensureMember(tx, within(record, 'creator'), place),
})

/** The part of a rule of RFC 5545 with this name. */
const partOf = (rule: unknown, name: string): string | null =>
  new RegExp(`(?:^|;)${name}=([^;]*)`, 'i').exec(textOf(rule).replace(/^RRULE:/i, ''))?.[1] ?? null

/** The time of `UNTIL`, as RFC 5545 writes it. */
const until = (text: string | null): string | null => {
  const [, year, month, day, hour = '00', minute = '00', second = '00'] =
    /^(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)Z?)?$/.exec(text ?? '') ?? []
  return year === undefined ? null : `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`
}

const allEvents = stage({
  name: 'events',
  group: 'events',
  list: 'events.list',
  table: events,
  shown: () => ({}),
  columns: {
    post_id: ({ id }) => id,
    ends_at: ({ starts_at, ends_at }) => ends_at ?? starts_at,
    time_zone: ({ time_zone }) => time_zone ?? 'UTC',
    by_days: ({ recurrence_rule }) => partOf(recurrence_rule, 'BYDAY'),
    by_month_days: ({ recurrence_rule }) => partOf(recurrence_rule, 'BYMONTHDAY'),
    recurrence_count: ({ recurrence_rule }) => partOf(recurrence_rule, 'COUNT'),
    recur_until: ({ recurrence_rule }) => until(partOf(recurrence_rule, 'UNTIL')),
  },
  // The event's own list does not show its space; the list of posts does.
  accepts: async (tx, { id }, { ids }) => (await tx.get(posts, ids.here(id))) !== undefined,
  async related(tx, record, place) {
    await ensureMember(tx, within(record, 'creator'), place)
    const description = record['description'] === null ? null : textOf(record['description'])
    await tx.update(posts, place.ids.here(record['id']), { description })
  },
  gone: async (tx, { id }) => (await removeWithDependents(tx, posts, id)) !== undefined,
})

const allComments = stage({
  name: 'comments',
  group: 'comments',
  list: 'comments.list',
  parents: [under('post_id', posts)],
  table: comments,
  shown: ({ params: { post_id = '' } }) => ({ post_id }),
  columns: { post_id: (_, { params }) => params['post_id'] },
})

const reactionsTo = (what: 'post' | 'comment'): Stage =>
  stage({
    name: `reactions to ${what}s`,
    group: 'reactions',
    list: `${what}_reactions.list`,
    parents: [what === 'post' ? under('post_id', posts) : under('comment_id', comments)],
    table: reactions,
    shown: ({ params: { post_id, comment_id } }) => (post_id === undefined ? { comment_id: comment_id ?? '' } : { post_id }),
    columns: {
      post_id: (_, { params }) => params['post_id'] ?? null,
      comment_id: (_, { params }) => params['comment_id'] ?? null,
    },
  })

const allRsvps = stage({
  name: 'rsvps',
  group: 'rsvps',
  list: 'rsvps.list',
  parents: [under('event_id', events)],
  table: rsvps,
  shown: ({ params: { event_id = '' } }) => ({ event_id }),
  columns: {
    event_id: (_, { params }) => params['event_id'],
    member_id: (record) => within(record, 'member')['id'],
    updated_at: ({ updated }) => updated,
    instance_at: (record) => {
      const at = Date.parse(textOf(within(record, 'event_instance')['starts_at']))
      return Number.isNaN(at) ? '' : new Date(at).toISOString()
    },
  },
  inserts: { created_at: ({ updated }) => updated },
  related: (tx, record, place) => ensureMember(tx, within(record, 'member'), place),
})

const allCourseworks = stage({
  name: 'courseworks',
  group: 'courseworks',
  list: 'courseworks.list',
  parents: [under('space_id', spaces)],
  table: courseworks,
  shown: ({ params: { space_id = '' } }) => ({ space_id }),
  columns: { space_id: (_, { params }) => params['space_id'] },
})

/** In the order of dependence. */
export const content: readonly Stage[] = [
  allPosts,
  allPolls,
  allEvents,
  allCourseworks,
  allComments,
  allRsvps,
  reactionsTo('post'),
  reactionsTo('comment'),
]
