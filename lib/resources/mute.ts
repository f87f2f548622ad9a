import { found, notFound } from '../errors.ts'
import { IdInput } from '../fields.ts'
import { type Context, operation } from '../operation.ts'
import { activeMember } from '../rules/members.ts'
import type { Id } from '../storage/table.ts'
import { mutes, posts } from '../storage/tables.ts'

const whose = { user_id: IdInput }

export const mutePost = operation({
  id: 'mute.create',
  method: 'POST',
  path: '/posts/:post_id/mute',
  scope: 'mute:write',
  summary: 'Switch off the notifications of a post for a member; once more is no error.',
  query: whose,
  errors: [notFound('Post'), notFound('Member')],
  async handle(call) {
    const key = await muteOf(call, call.params.post_id, call.query.user_id)
    if (!(await call.tx.first(mutes, key))) await call.tx.insert(mutes, { ...call.stamp(), ...key })
  },
})

export const unmutePost = operation({
  id: 'mute.delete',
  method: 'DELETE',
  path: '/posts/:post_id/mute',
  scope: 'mute:write',
  summary: 'Switch the notifications of a post on again for a member; if they are on, it is no error.',
  query: whose,
  errors: [notFound('Post'), notFound('Member')],
  async handle(call) {
    const mute = await call.tx.first(mutes, await muteOf(call, call.params.post_id, call.query.user_id))
    if (mute) await call.tx.remove(mutes, mute.id)
  },
})

/** Whose mute of which post; both are there. */
async function muteOf(context: Pick<Context, 'tx'>, post_id: Id, user_id: Id) {
  const post = found(await context.tx.get(posts, post_id), 'Post')
  const member = await activeMember(context, user_id)
  return { post_id: post.id, member_id: member.id }
}
