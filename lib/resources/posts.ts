import { found, invalid, notFound } from '../errors.ts'
import {
  BoolQuery,
  byDefault,
  describe,
  IdInput,
  LongText,
  oneOf,
  optional,
  optionalOrNull,
  paged,
  request,
  Title,
} from '../fields.ts'
import { operation } from '../operation.ts'
import { Post, payloadOf, postPayload, presentPost } from '../records/post.ts'
import { postFilters, postOrder } from '../rules/filters/content.ts'
import { conditionsOf, fieldsOf } from '../rules/filters/filter.ts'
import { mutedBy, newPost, requestNotification, summaryOf } from '../rules/posts.ts'
import { removeWithDependents } from '../storage/cascade.ts'
import { differs } from '../storage/changes.ts'
import { allOf } from '../storage/conditions.ts'
import type { NewIn } from '../storage/table.ts'
import { type PostRow, posts } from '../storage/tables/content.ts'
import { members, spaces } from '../storage/tables/members.ts'

const PostCreate = request('PostRequest', {
  space_id: describe(IdInput, 'The space in which to post. It cannot change afterwards.'),
  title: describe(Title, 'The title, on one line.'),
  description: describe(
    optionalOrNull(LongText),
    'The content, as HTML; it is stored unchanged, so sanitize it before you show it.',
  ),
  post_type: describe(
    byDefault(optional(oneOf('post', 'article', 'announcement', 'introduction')), 'post'),
    'What to create; `post` by default. An `article` has events of its own, the others those of a post.',
  ),
})

const PostUpdate = request('PostUpdateRequest', {
  title: describe(optional(Title), 'The new title, on one line.'),
  description: describe(optionalOrNull(LongText), 'The new content, as HTML; null or an empty text clears it.'),
})

const notify = {
  notify: describe(
    byDefault(optional(BoolQuery), false),
    'Whether the host should notify the members of the network; false by default.',
  ),
}

export const listPosts = operation({
  id: 'posts.list',
  method: 'GET',
  path: '/posts',
  scope: 'posts:read',
  summary: 'List posts, articles, polls, questions and events, newest first.',
  description:
    'Everything that appears in a feed; `post_type` says what it is. Polls and events have lists with more about them.',
  query: {
    space_id: describe(optional(IdInput), 'Only those in this space.'),
    ...fieldsOf(postFilters),
  },
  returns: paged(Post, { isSorted: true }),
  handle: (call) => {
    const { space_id, ...filters } = call.query
    const where = space_id ? { space_id } : {}
    const listed = allOf([{ where }, conditionsOf<PostRow>(postFilters, filters, call)])
    return call.page(posts, { ...listed, order: postOrder(listed) }, (rows) => rows.map((row) => presentPost(call, row)))
  },
})

export const createPost = operation({
  id: 'posts.create',
  method: 'POST',
  path: '/posts',
  scope: 'posts:write',
  summary: 'Create a post or an article.',
  description:
    "It is published immediately, with the token's owner as its author. It sends `PostCreatedHook`, or `ArticleCreatedHook` for an article.",
  status: 201,
  query: notify,
  body: PostCreate,
  returns: Post,
  errors: [notFound('Space'), invalid('title', 'description', 'post_type')],
  emits: ['PostCreated', 'ArticleCreated', 'PostNotificationRequested'],
  async handle(call) {
    const { space_id, title, description, post_type = 'post' } = call.body
    const { member_id } = call.principal
    const row: NewIn<typeof posts> = {
      ...newPost(call, space_id, description),
      title,
      // Null and an empty text are shown alike. One of them is kept, so that a record that is written back is the same.
      description: description || null,
      family: 'post',
      post_type,
    }
    // The creator is read only for the event. It travels with the other statement.
    const [space, creator] = await Promise.all([call.tx.lock(spaces, space_id, 'share'), call.tx.get(members, member_id)])
    found(space, 'Space')
    const added = await call.tx.insert(posts, row)
    const post = presentPost(call, added)
    call.emit(post_type === 'article' ? 'ArticleCreated' : 'PostCreated', payloadOf(call, post, creator))
    if (call.query.notify) requestNotification(call, added)
    return post
  },
})

export const showPost = operation({
  id: 'posts.show',
  method: 'GET',
  path: '/posts/:id/',
  scope: 'posts:read',
  summary: 'Show a post, article, poll, question or event.',
  description: 'A poll or an event is shown as a post; `GET /polls/{id}/` and `GET /events/{id}/` have more about it.',
  returns: Post,
  errors: [notFound('Post')],
  handle: async (call) => presentPost(call, found(await call.tx.get(posts, call.params.id), 'Post')),
})

export const updatePost = operation({
  id: 'posts.update',
  method: 'PATCH',
  path: '/posts/:id/',
  also: { id: 'posts.replace', method: 'PUT' },
  scope: 'posts:write',
  summary: 'Change a post or an article.',
  description:
    'It sends `PostUpdatedHook`, or `ArticleUpdatedHook` for an article, if something changed. A poll, a question or an event is a 404 here. With `notify`, members who have muted the post are left out.',
  query: notify,
  body: PostUpdate,
  returns: Post,
  errors: [notFound('Post'), invalid('title', 'description')],
  emits: ['PostUpdated', 'ArticleUpdated', 'PostNotificationRequested'],
  async handle(call) {
    const { description } = call.body
    const text = description === undefined ? {} : { description: description || null, summary: summaryOf(description) }
    const changes = { ...call.body, ...text, last_activity_at: call.now, ...call.touch() }
    const locked = await call.tx.lock(posts, call.params.id, 'update')
    const before = found(locked?.family === 'post' ? locked : undefined, 'Post')
    const isChanged = differs(before, changes)
    const post = isChanged ? found(await call.tx.touch(posts, before.id, changes), 'Post') : before
    if (isChanged)
      call.emit(post.post_type === 'article' ? 'ArticleUpdated' : 'PostUpdated', await postPayload(call, post), [before, post])
    if (call.query.notify) requestNotification(call, post, await mutedBy(call, post))
    return presentPost(call, post)
  },
})

export const deletePost = operation({
  id: 'posts.delete',
  method: 'DELETE',
  path: '/posts/:id/',
  scope: 'posts:write',
  summary: 'Delete a post or an article with its comments, reactions and mutes.',
  description: 'No event is sent, neither for it nor for what goes with it. A poll, a question or an event is a 404 here.',
  errors: [notFound('Post')],
  async handle({ tx, params }) {
    const post = await tx.get(posts, params.id)
    const { id } = found(post?.family === 'post' ? post : undefined, 'Post')
    found(await removeWithDependents(tx, posts, id), 'Post')
  },
})
