import { found, notFound } from '../errors.ts'
import { describe, IdInput } from '../fields.ts'
import { operation } from '../operation.ts'
import { activeMember, lockMember } from '../rules/members.ts'
import { mutes, posts } from '../storage/tables/content.ts'

const whose = {
  user_id: describe(IdInput, 'The member whose notifications it is about.'),
}

export const mutePost = operation({
  id: 'mute.create',
  method: 'POST',
  path: '/posts/:post_id/mute',
  scope: 'mute:write',
  summary: 'Switch off the notifications of a post for a member; no error if they are off.',
  description:
    'The host leaves the member out when it notifies others of a change of the post. No event is sent, and a repetition changes nothing.',
  query: whose,
  errors: [notFound('Post'), notFound('Member')],
  async handle(call) {
    const member = await lockMember(call, call.query.user_id)
    const post = found(await call.tx.lock(posts, call.params.post_id, 'share'), 'Post')
    const key = { post_id: post.id, member_id: member.id }
    if (!(await call.tx.first(mutes, key))) await call.tx.insert(mutes, { ...call.stamp(), ...key })
  },
})

export const unmutePost = operation({
  id: 'mute.delete',
  method: 'DELETE',
  path: '/posts/:post_id/mute',
  scope: 'mute:write',
  summary: 'Switch the notifications of a post on for a member; no error if they are on.',
  description: 'No event is sent, and a repetition changes nothing.',
  query: whose,
  errors: [notFound('Post'), notFound('Member')],
  async handle(call) {
    const post = found(await call.tx.get(posts, call.params.post_id), 'Post')
    const member = await activeMember(call, call.query.user_id)
    const mute = await call.tx.first(mutes, { post_id: post.id, member_id: member.id })
    if (mute) await call.tx.remove(mutes, mute.id)
  },
})
