import type { Context } from '../context.ts'
import { fail, found, invalid, notFound } from '../errors.ts'
import {
  BoolInput,
  byDefault,
  describe,
  IdInput,
  LongText,
  listUpTo,
  oneOf,
  optional,
  optionalOrNull,
  paged,
  publish,
  request,
  Title,
} from '../fields.ts'
import { operation } from '../operation.ts'
import { Poll, type PollRecord, pollPayload, presentPolls } from '../records/poll.ts'
import { postPayload } from '../records/post.ts'
import { newPost, requestNotification, summaryOf } from '../rules/posts.ts'
import { hasTwins } from '../rules/titles.ts'
import { removeWithDependents } from '../storage/cascade.ts'
import { differs } from '../storage/changes.ts'
import type { Id, NewIn } from '../storage/table.ts'
import { type PostRow, posts } from '../storage/tables/content.ts'
import { spaces } from '../storage/tables/members.ts'

const PollCreate = request('PollRequest', {
  space_id: describe(IdInput, 'The space in which to publish it. It cannot change afterwards.'),
  title: describe(Title, 'The question, on one line.'),
  description: describe(
    optionalOrNull(LongText),
    'More about the question, as HTML; it is stored unchanged, so sanitize it before you show it.',
  ),
  poll_type: describe(
    oneOf('multiple_choice', 'hot_cold', 'percentage', 'question'),
    'How members answer: by choosing, on a scale, by sharing out percents, or in their own words. It cannot change afterwards.',
  ),
  choices: describe(
    optional(
      publish(listUpTo(Title, 'choices', 'choices'), {
        type: 'array',
        items: { type: 'string', minLength: 1, maxLength: { limit: 'titleCharacters' } },
        maxItems: { limit: 'choices' },
      }),
    ),
    'The choices, at least two that differ whatever their case; a `question` needs none and ignores them. They cannot change afterwards.',
  ),
  notify: describe(
    byDefault(optional(BoolInput), false),
    'Whether the host should notify the members of the network; false by default.',
  ),
})

const PollUpdate = request('PollUpdateRequest', {
  title: describe(optional(Title), 'The new question, on one line.'),
  description: describe(optionalOrNull(LongText), 'More about the question, as HTML; null or an empty text clears it.'),
})

const created = {
  multiple_choice: 'MultipleChoicePollCreated',
  hot_cold: 'HotColdPollCreated',
  percentage: 'PercentagePollCreated',
} as const

const updated = {
  multiple_choice_poll: 'MultipleChoicePollUpdated',
  hot_cold_poll: 'HotColdPollUpdated',
  percentage_poll: 'PercentagePollUpdated',
} as const

export const listPolls = operation({
  id: 'polls.list',
  method: 'GET',
  path: '/polls',
  scope: 'polls:read',
  summary: 'List polls and questions, newest first.',
  description: 'Posts and events have lists of their own; `GET /posts` has all of them together.',
  query: {
    space_id: describe(optional(IdInput), 'Only those in this space.'),
  },
  returns: paged(Poll),
  handle: (call) => {
    const { space_id } = call.query
    const where = { family: 'poll', ...(space_id ? { space_id } : {}) } as const
    return call.page(posts, { where, order: { by: 'id', direction: 'desc' } }, (rows) => presentPolls(call, rows))
  },
})

export const createPoll = operation({
  id: 'polls.create',
  method: 'POST',
  path: '/polls',
  scope: 'polls:write',
  summary: 'Create a poll or a question.',
  description:
    "It is published immediately, with the token's owner as its creator. It sends the event of its kind, such as `MultipleChoicePollCreatedHook`. The API takes no votes: the host counts them.",
  status: 201,
  body: PollCreate,
  example: {
    space_id: '254803968000',
    title: 'What shall we plant?',
    poll_type: 'multiple_choice',
    choices: ['Carrots', 'Peas'],
    notify: true,
  },
  returns: Poll,
  errors: [notFound('Space'), invalid('title', 'poll_type', 'choices')],
  emits: [
    'MultipleChoicePollCreated',
    'HotColdPollCreated',
    'PercentagePollCreated',
    'QuestionCreated',
    'PostNotificationRequested',
  ],
  async handle(call) {
    const { space_id, title, description, poll_type, choices = [], notify } = call.body
    const isQuestion = poll_type === 'question'
    if (!isQuestion && choices.length < 2)
      fail(invalid('choices'), 'choices must hold at least two texts unless poll_type is question')
    if (hasTwins(choices)) fail(invalid('choices'), 'choices must differ from each other')
    const row: NewIn<typeof posts> = {
      ...newPost(call, space_id, description),
      family: 'poll',
      post_type: isQuestion ? 'question' : 'poll',
      poll_type: isQuestion ? null : `${poll_type}_poll`,
      title,
      description,
      choices: isQuestion ? null : choices.map((text) => ({ id: call.newId(), text })),
    }
    found(await call.tx.lock(spaces, space_id, 'share'), 'Space')
    const post = await call.tx.insert(posts, row)
    const poll = await presentPoll(call, post)
    if (isQuestion) call.emit('QuestionCreated', await postPayload(call, post))
    else call.emit(created[poll_type], pollPayload(poll))
    if (notify) requestNotification(call, post)
    return poll
  },
})

export const showPoll = operation({
  id: 'polls.show',
  method: 'GET',
  path: '/polls/:id/',
  scope: 'polls:read',
  summary: 'Show a poll or a question.',
  description: 'A post or an event with this id is a 404.',
  returns: Poll,
  errors: [notFound('Poll')],
  handle: async (call) => presentPoll(call, await pollOf(call, call.params.id)),
})

export const updatePoll = operation({
  id: 'polls.update',
  method: 'PATCH',
  path: '/polls/:id/',
  also: { id: 'polls.replace', method: 'PUT' },
  scope: 'polls:write',
  summary: 'Change the title or description of a poll or a question.',
  description:
    'Kind, choices and space stay. It sends the event of its kind, such as `MultipleChoicePollUpdatedHook`, if something changed.',
  body: PollUpdate,
  returns: Poll,
  errors: [notFound('Poll'), invalid('title', 'description')],
  emits: ['MultipleChoicePollUpdated', 'HotColdPollUpdated', 'PercentagePollUpdated', 'QuestionUpdated'],
  async handle(call) {
    const { description } = call.body
    const summary = description === undefined ? {} : { summary: summaryOf(description) }
    const changes = { ...call.body, ...summary, last_activity_at: call.now, ...call.touch() }
    const locked = await call.tx.lock(posts, call.params.id, 'update')
    const before = found(locked?.family === 'poll' ? locked : undefined, 'Poll')
    if (!differs(before, changes)) return presentPoll(call, before)
    const post = found(await call.tx.touch(posts, before.id, changes), 'Poll')
    const poll = await presentPoll(call, post)
    if (post.poll_type === null) call.emit('QuestionUpdated', await postPayload(call, post), [before, post])
    else call.emit(updated[post.poll_type], pollPayload(poll), [before, post])
    return poll
  },
})

export const deletePoll = operation({
  id: 'polls.delete',
  method: 'DELETE',
  path: '/polls/:id/',
  scope: 'polls:write',
  summary: 'Delete a poll or a question with its comments, reactions and mutes.',
  description: 'No event is sent, neither for it nor for what goes with it.',
  errors: [notFound('Poll')],
  async handle(call) {
    const { id } = await pollOf(call, call.params.id)
    found(await removeWithDependents(call.tx, posts, id), 'Poll')
  },
})

async function pollOf({ tx }: Pick<Context, 'tx'>, id: Id): Promise<PostRow> {
  const post = await tx.get(posts, id)
  return found(post?.family === 'poll' ? post : undefined, 'Poll')
}

async function presentPoll(context: Context, post: PostRow): Promise<PollRecord> {
  return found((await presentPolls(context, [post]))[0], 'Poll')
}
