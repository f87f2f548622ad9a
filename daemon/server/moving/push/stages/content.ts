/** Posts of every kind, and what belongs to them. */
import { commentHtml } from '../../../../../lib/rules/html.ts'
import { comments, mutes, type PostRow, posts, reactions } from '../../../../../lib/storage/tables/content.ts'
import { type EventRow, events, rsvps } from '../../../../../lib/storage/tables/events.ts'
import { given, LeftOut, type Push, type PushStage, pushStage } from '../push-stage.ts'
import { courses } from './courses.ts'

const kinds = ['post', 'article', 'announcement', 'introduction']

/** The API publishes every post that it makes. */
const unpublished = ({ status }: PostRow): string | undefined =>
  status === 'posted' ? undefined : `a ${status} post would be published immediately`

/** Columns that the server makes of the others. */
const ofPosts = ['family', 'post_type', 'summary', 'status', 'content_type', 'published_at', 'last_activity_at'] as const

const inSpace = (row: PostRow, { there }: Push) => ({
  space_id: there('spaces', row.space_id),
  title: row.title,
  description: row.description,
})

const allPosts = pushStage({
  name: 'posts',
  group: 'posts',
  table: posts,
  where: { family: 'post' },
  isInFeed: true,
  create: 'posts.create',
  update: 'posts.update',
  reason: unpublished,
  body: (row, push) => given({ ...inSpace(row, push), post_type: kinds.includes(row.post_type) ? row.post_type : undefined }),
  changes: ({ title, description }) => ({ title, description }),
  follows: [...ofPosts, 'poll_type', 'choices'],
  madeBy: 'creator_id',
})

const allPolls = pushStage({
  name: 'polls',
  group: 'posts',
  table: posts,
  where: { family: 'poll' },
  isInFeed: true,
  create: 'polls.create',
  update: 'polls.update',
  reason: unpublished,
  body: (row, push) =>
    given({
      ...inSpace(row, push),
      poll_type: row.poll_type?.replace(/_poll$/, '') ?? 'question',
      choices: row.poll_type === null ? undefined : row.choices?.map(({ text }) => text),
    }),
  changes: ({ title, description }) => ({ title, description }),
  follows: [...ofPosts, 'poll_type'],
  madeBy: 'creator_id',
})

/** Fields of an event that its post does not have. */
const scheduled = [
  ...(['event_type', 'starts_at', 'ends_at', 'time_zone', 'location', 'link', 'restricted_event', 'post_in_feed'] as const),
  ...(['frequency', 'interval', 'by_days', 'by_month_days', 'recurrence_count', 'recur_until'] as const),
]

async function eventOf(id: string, { reads }: Push): Promise<EventRow> {
  const [event] = await reads.find(events, { where: { id } })
  return event ?? gone()
}

const gone = (): never => {
  throw new LeftOut('it is gone from the storage')
}

const details = (row: PostRow, event: EventRow): Readonly<Record<string, unknown>> => ({
  title: row.title,
  description: row.description,
  ...Object.fromEntries(scheduled.map((name) => [name, event[name]])),
})

const ofEvents = { table: posts, where: { family: 'event' }, columns: { ...posts.columns, ...events.columns } } as const

const allEvents = pushStage({
  ...ofEvents,
  name: 'events',
  group: 'events',
  isInFeed: true,
  create: 'events.create',
  update: 'events.update',
  reason: unpublished,
  body: async (row, push) => given({ ...inSpace(row, push), ...details(row, await eventOf(row.id, push)) }),
  changes: async (row, push) => details(row, await eventOf(row.id, push)),
  follows: [...ofPosts, 'poll_type', 'choices'],
  madeBy: 'creator_id',
})

/** An event that is closed takes no RSVPs, so it is closed after they have come. */
const closedEvents = pushStage({
  ...ofEvents,
  name: 'closing of RSVPs',
  group: 'events',
  update: 'events.update',
  async changes({ id }, push) {
    const { rsvp_enabled, rsvp_closed } = await eventOf(id, push)
    return { rsvp_enabled, rsvp_closed }
  },
})

const allRsvps = pushStage({
  name: 'rsvps',
  group: 'rsvps',
  table: rsvps,
  create: 'rsvps.create',
  update: 'rsvps.update',
  params: ({ event_id }, push) => ({ event_id: push.there('posts', event_id, 'events') }),
  body: ({ member_id, status, instance_at }, push) => ({
    member_id: push.there('members', member_id),
    status,
    ...(instance_at === '' ? {} : { instance_at }),
  }),
  async changes({ event_id, status, instance_at }, push) {
    // A closed event takes no changes of answers. If its occurrences have moved, the server has moved the answers with them.
    const { rsvp_enabled, rsvp_closed } = await eventOf(event_id, push)
    const isDated = instance_at !== '' && rsvp_enabled && !rsvp_closed
    return { status, ...(isDated ? { instance_at } : {}) }
  },
  follows: ['event_id'],
})

const allComments = pushStage({
  name: 'comments',
  group: 'comments',
  table: comments,
  parent: 'reply_to_id',
  create: 'comments.create',
  params: ({ post_id }, push) => ({ post_id: push.there('posts', post_id) }),
  body: ({ text, reply_to_id }, push) =>
    given({ text, reply_to_id: reply_to_id === null ? null : push.there('comments', reply_to_id) }),
  follows: ['post_id', 'space_id', 'depth', 'cheer_count', 'reply_count'],
  madeBy: 'author_id',
  loses: ({ text }) => (commentHtml(text) === text ? [] : ['markup']),
})

const reactionsTo = (what: 'post' | 'comment'): PushStage =>
  pushStage({
    name: `reactions to ${what}s`,
    group: 'reactions',
    table: reactions,
    where: what === 'post' ? { comment_id: null } : { post_id: null },
    create: `${what}_reactions.create`,
    update: `${what}_reactions.create`,
    isWhole: true,
    reason: ({ member_id }, push) => (member_id === push.owner() ? undefined : 'the API lets only the member of the token react'),
    params: ({ post_id, comment_id }, push) =>
      what === 'post'
        ? { post_id: push.there('posts', post_id ?? '') }
        : { comment_id: push.there('comments', comment_id ?? '') },
    body: ({ emoji }) => ({ emoji }),
    changes: ({ emoji }) => ({ emoji }),
    follows: ['post_id', 'comment_id', 'space_id', 'member_id', 'base_emoji'],
  })

const allMutes = pushStage({
  name: 'mutes',
  group: 'mute',
  table: mutes,
  key: ({ post_id, member_id }) => `${post_id} ${member_id}`,
  create: 'mute.create',
  hasNoId: true,
  params: ({ post_id }, push) => ({ post_id: push.there('posts', post_id) }),
  query: ({ member_id }, push) => ({ user_id: push.there('members', member_id) }),
  follows: ['post_id', 'member_id'],
})

/** In the order of dependence. */
export const content: readonly PushStage[] = [
  allPosts,
  allPolls,
  allEvents,
  allRsvps,
  closedEvents,
  ...courses,
  allComments,
  reactionsTo('post'),
  reactionsTo('comment'),
  allMutes,
]
