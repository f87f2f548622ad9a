import * as v from 'valibot'
import type { Context } from '../context.ts'
import { fail, found, invalid, notFound } from '../errors.ts'
import { describe, IdInput, isBlank, LongText, optional, paged, publish, request } from '../fields.ts'
import { operation } from '../operation.ts'
import { Comment, presentComment } from '../records/comment.ts'
import { commentHtml, textOfHtml } from '../rules/html.ts'
import { removeWithDependents } from '../storage/cascade.ts'
import { orConflict } from '../storage/lock.ts'
import type { Id } from '../storage/table.ts'
import { type CommentRow, comments, type PostRow, posts } from '../storage/tables/content.ts'

const CommentCreate = request('CommentRequest', {
  text: describe(
    publish(
      v.pipe(
        LongText,
        v.check((text) => !isBlank(textOfHtml(text)), "can't be blank"),
      ),
      {
        type: 'string',
        minLength: 1,
        maxLength: { limit: 'longTextCharacters' },
      },
    ),
    'The comment as HTML, of which a safe subset is kept, or as plain text. Web addresses become links.',
  ),
  reply_to_id: describe(
    optional(IdInput),
    'The comment of the same post that this one replies to; left out for a comment on the post itself.',
  ),
})

export const listComments = operation({
  id: 'comments.list',
  method: 'GET',
  path: '/posts/:post_id/comments',
  scope: 'comments:read',
  summary: 'List the comments on a post, replies among them.',
  description:
    'Comments and their replies in the order of their creation; `reply_to_id` and `depth` show which replies to which.',
  returns: paged(Comment),
  errors: [notFound('Post')],
  async handle(call) {
    const { id } = await postOf(call, call.params.post_id)
    return call.page(comments, { where: { post_id: id } }, (rows) => rows.map((row) => presentComment(call, row)))
  },
})

export const createComment = operation({
  id: 'comments.create',
  method: 'POST',
  path: '/posts/:post_id/comments',
  scope: 'comments:write',
  summary: "Comment on a post, poll, question or event as the token's owner, or reply to a comment.",
  description:
    'It sends `CommentCreatedHook`, counts as activity of the post, and adds to `reply_count` of the comment that it replies to. Where comments are switched off, it is a 422.',
  status: 201,
  body: CommentCreate,
  returns: Comment,
  errors: [notFound('Post'), invalid('text', 'reply_to_id')],
  emits: ['CommentCreated'],
  async handle(call) {
    const { tx, body } = call
    const post = found(await tx.update(posts, call.params.post_id, { last_activity_at: call.now }), 'Post')
    if (!post.comments_enabled) fail(invalid('text'), 'Comments on this post are switched off')
    const parent = body.reply_to_id === undefined ? undefined : await repliedTo(call, post.id, body.reply_to_id)
    if (parent) orConflict(await tx.increment(comments, parent.id, { reply_count: 1 }), `comments ${parent.id}`)
    const row = await tx.insert(comments, {
      ...call.stamp(),
      post_id: post.id,
      space_id: post.space_id,
      author_id: call.principal.member_id,
      text: commentHtml(body.text),
      reply_to_id: parent?.id,
      depth: parent ? parent.depth + 1 : 1,
    })
    const comment = presentComment(call, row)
    call.emit('CommentCreated', comment)
    return comment
  },
})

export const showComment = operation({
  id: 'comments.show',
  method: 'GET',
  path: '/posts/:post_id/comments/:id/',
  scope: 'comments:read',
  summary: 'Show a comment on a post.',
  description: 'A comment on another post is a 404.',
  returns: Comment,
  errors: [notFound('Post'), notFound('Comment')],
  async handle(call) {
    const post = await postOf(call, call.params.post_id)
    return presentComment(call, found(await commentOn(call, post.id, call.params.id), 'Comment'))
  },
})

export const deleteComment = operation({
  id: 'comments.delete',
  method: 'DELETE',
  path: '/posts/:post_id/comments/:id/',
  scope: 'comments:write',
  summary: 'Delete a comment with its replies and reactions.',
  description: 'The comment that it replied to counts one reply less. No event is sent.',
  errors: [notFound('Post'), notFound('Comment')],
  async handle(call) {
    const post = await postOf(call, call.params.post_id)
    const comment = found(await commentOn(call, post.id, call.params.id), 'Comment')
    if (comment.reply_to_id) await call.tx.increment(comments, comment.reply_to_id, { reply_count: -1 })
    found(await removeWithDependents(call.tx, comments, comment.id), 'Comment')
  },
})

const postOf = async ({ tx }: Pick<Context, 'tx'>, id: Id): Promise<PostRow> => found(await tx.get(posts, id), 'Post')

async function commentOn({ tx }: Pick<Context, 'tx'>, post_id: Id, id: Id): Promise<CommentRow | undefined> {
  const comment = await tx.get(comments, id)
  return comment?.post_id === post_id ? comment : undefined
}

async function repliedTo(context: Pick<Context, 'tx'>, post_id: Id, id: Id): Promise<CommentRow> {
  const comment = await commentOn(context, post_id, id)
  return comment ?? fail(invalid('reply_to_id'), 'reply_to_id: there is no such comment on this post')
}
