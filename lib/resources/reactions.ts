import * as v from 'valibot'
import { isEmoji } from '../base/emoji.ts'
import type { Emitter } from '../call.ts'
import { found, invalid, notFound } from '../errors.ts'
import { describe, paged, publish, request } from '../fields.ts'
import { operation } from '../operation.ts'
import { presentReaction, Reaction } from '../records/reaction.ts'
import { lockMember } from '../rules/members.ts'
import { orConflict } from '../storage/lock.ts'
import type { Id } from '../storage/table.ts'
import { comments, posts, type ReactionRow, reactions } from '../storage/tables/content.ts'
import { members } from '../storage/tables/members.ts'

const ReactionCreate = request('ReactionRequest', {
  emoji: describe(
    publish(v.pipe(v.string('must be one emoji'), v.maxLength(40, 'must be one emoji'), v.check(isEmoji, 'must be one emoji')), {
      type: 'string',
      example: '👍🏽',
    }),
    'Exactly one emoji; skin tones are allowed.',
  ),
})

export const listPostReactions = operation({
  id: 'post_reactions.list',
  method: 'GET',
  path: '/posts/:post_id/reactions',
  scope: 'reactions:read',
  summary: 'List the reactions to a post.',
  description: 'Each member has one reaction at most. Count `base_emoji` to leave skin tones aside.',
  returns: paged(Reaction),
  errors: [notFound('Post')],
  async handle({ tx, params, page }) {
    const post = found(await tx.get(posts, params.post_id), 'Post')
    return page(reactions, { where: { post_id: post.id } }, (rows) => rows.map(presentReaction))
  },
})

export const createPostReaction = operation({
  id: 'post_reactions.create',
  method: 'POST',
  path: '/posts/:post_id/reactions',
  scope: 'reactions:write',
  summary: "React to a post as the token's owner; another emoji replaces the previous one.",
  description:
    'It sends `ReactionCreatedHook`, and `ReactionDeletedHook` before it if another emoji is replaced. The same emoji again changes nothing. A key whose owner has left is a 404.',
  status: 201,
  body: ReactionCreate,
  returns: Reaction,
  errors: [notFound('Member'), notFound('Post'), invalid('emoji')],
  emits: ['ReactionCreated', 'ReactionDeleted'],
  async handle(call) {
    await lockMember(call, call.principal.member_id)
    const post = found(await call.tx.lock(posts, call.params.post_id, 'share'), 'Post')
    return react(call, { post_id: post.id }, post.space_id, call.body.emoji)
  },
})

export const deletePostReaction = operation({
  id: 'post_reactions.delete',
  method: 'DELETE',
  path: '/posts/:post_id/reactions',
  scope: 'reactions:write',
  summary: "Remove the reaction of the token's owner from a post.",
  description: 'It sends `ReactionDeletedHook`. Without a reaction it is a 404.',
  errors: [notFound('Post'), notFound('Reaction')],
  emits: ['ReactionDeleted'],
  async handle(call) {
    await call.tx.lock(members, call.principal.member_id, 'update')
    const post = found(await call.tx.lock(posts, call.params.post_id, 'share'), 'Post')
    await takeBack(call, { post_id: post.id })
  },
})

export const listCommentReactions = operation({
  id: 'comment_reactions.list',
  method: 'GET',
  path: '/comments/:comment_id/reactions',
  scope: 'reactions:read',
  summary: 'List the reactions to a comment.',
  description: 'Each member has one reaction at most; their number is `cheer_count` of the comment.',
  returns: paged(Reaction),
  errors: [notFound('Comment')],
  async handle({ tx, params, page }) {
    const comment = found(await tx.get(comments, params.comment_id), 'Comment')
    return page(reactions, { where: { comment_id: comment.id } }, (rows) => rows.map(presentReaction))
  },
})

export const createCommentReaction = operation({
  id: 'comment_reactions.create',
  method: 'POST',
  path: '/comments/:comment_id/reactions',
  scope: 'reactions:write',
  summary: "React to a comment as the token's owner; another emoji replaces the previous one.",
  description:
    'It sends `ReactionCreatedHook`, and `ReactionDeletedHook` before it if another emoji is replaced. The same emoji again changes nothing. A key whose owner has left is a 404.',
  status: 201,
  body: ReactionCreate,
  returns: Reaction,
  errors: [notFound('Member'), notFound('Comment'), invalid('emoji')],
  emits: ['ReactionCreated', 'ReactionDeleted'],
  async handle(call) {
    await lockMember(call, call.principal.member_id, 'share')
    const comment = found(await call.tx.lock(comments, call.params.comment_id, 'update'), 'Comment')
    return react(call, { comment_id: comment.id }, comment.space_id, call.body.emoji)
  },
})

export const deleteCommentReaction = operation({
  id: 'comment_reactions.delete',
  method: 'DELETE',
  path: '/comments/:comment_id/reactions',
  scope: 'reactions:write',
  summary: "Remove the reaction of the token's owner from a comment.",
  description: 'It sends `ReactionDeletedHook`. Without a reaction it is a 404.',
  errors: [notFound('Comment'), notFound('Reaction')],
  emits: ['ReactionDeleted'],
  async handle(call) {
    const comment = found(await call.tx.lock(comments, call.params.comment_id, 'update'), 'Comment')
    await takeBack(call, { comment_id: comment.id })
  },
})

type Target = { readonly post_id: Id } | { readonly comment_id: Id }

/**
 * One reaction per member and target: the same emoji again changes nothing, another one replaces it. The caller has locked either
 * the member or the comment, for others who give or take back the same one. A former member has none: theirs went with them.
 */
async function react(call: Emitter<'ReactionCreated' | 'ReactionDeleted'>, target: Target, space_id: Id, emoji: string) {
  const key = { ...target, member_id: call.principal.member_id }
  const before = await call.tx.first(reactions, key)
  if (before?.emoji === emoji) return presentReaction(before)
  if (before) await remove(call, before)
  const base_emoji = emoji.replace(/\p{Emoji_Modifier}/gu, '')
  const reaction = presentReaction(await call.tx.insert(reactions, { ...call.stamp(), ...key, space_id, emoji, base_emoji }))
  if ('comment_id' in target) await call.tx.increment(comments, target.comment_id, { cheer_count: 1 })
  call.emit('ReactionCreated', reaction)
  return reaction
}

/** Removes the reaction of the token's owner. */
async function takeBack(call: Emitter<'ReactionDeleted'>, target: Target): Promise<void> {
  const reaction = found(await call.tx.first(reactions, { ...target, member_id: call.principal.member_id }), 'Reaction')
  await remove(call, reaction)
}

async function remove(call: Emitter<'ReactionDeleted'>, reaction: ReactionRow): Promise<void> {
  // A leaving member's reactions are removed, possibly at this moment.
  orConflict(await call.tx.remove(reactions, reaction.id), `reactions ${reaction.id}`)
  if (reaction.comment_id) await call.tx.increment(comments, reaction.comment_id, { cheer_count: -1 })
  call.emit('ReactionDeleted', presentReaction(reaction))
}
