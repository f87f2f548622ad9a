import type * as v from 'valibot'
import type { Emitter } from '../call.ts'
import type { Context } from '../context.ts'
import { fail, invalid } from '../errors.ts'
import { type MemberRecord, type MemberUpdate, presentMember } from '../records/member.ts'
import { orConflict } from '../storage/lock.ts'
import type { Id } from '../storage/table.ts'
import { type MemberRow, members } from '../storage/tables/members.ts'
import { emailKey, keepAHost, memberByAddress, refuseHolder } from './members.ts'
import { joinNetwork } from './membership.ts'
import { closeInvite, holdInvites, moveInvites } from './open-invites.ts'

/**
 * Changes a member's role, profile and member type, and emits that. A limited member who becomes a full one joins the network.
 * @param space_id the space within which it happened; null for the network
 * @throws ApiError 422 when the address is another member's, a full member would become limited, or the network would lose its
 * last host
 */
export async function changeMember(
  call: Emitter<'MemberUpdated' | 'MemberJoined'>,
  member: MemberRow,
  changes: v.InferOutput<typeof MemberUpdate>,
  space_id: Id | null,
): Promise<MemberRecord> {
  const { last_name, ...rest } = changes
  const joins = rest.member_type === 'full' && member.member_type === 'limited'
  const moves = rest.email !== undefined && emailKey(rest.email) !== member.email_key
  if (rest.member_type === 'limited' && member.member_type === 'full')
    fail(
      invalid('member_type'),
      'member_type cannot become limited: remove the member from the network, then create them as a limited member',
    )
  if (rest.role && rest.role !== 'host') await keepAHost(call.tx, member)
  if (joins || moves) await holdInvites(call.tx)
  if (moves) await freeAddress(call, rest.email ?? '')
  const patch = {
    ...rest,
    ...(last_name === undefined ? {} : { last_name: last_name ?? '' }),
    ...(rest.email ? { email_key: emailKey(rest.email) } : {}),
    ...call.touch(),
  }
  const { role, member_type, email_key } = member
  const unchanged = { state: 'active', role, member_type, email_key } as const
  const changed = orConflict(await call.tx.update(members, member.id, patch, unchanged), `members ${member.id}`)
  if (moves) await moveInvites(call, member, changed.email)
  const record = presentMember(call, changed)
  call.emit('MemberUpdated', { member: record, space_id, network_id: call.network.id })
  if (joins) await joinNetwork(call, changed)
  else if (moves && changed.member_type === 'full') await closeInvite(call, changed, null)
  return record
}

/**
 * Takes an address from a removed member, for whom it was kept: they come back as somebody else then.
 * @throws ApiError 422 when it is that of a member, or of a banned one
 */
async function freeAddress({ tx, touch }: Context, email: string): Promise<void> {
  const holder = await memberByAddress(tx, email)
  if (!holder) return
  refuseHolder('email', holder)
  const { id, state, email_key } = holder
  orConflict(await tx.update(members, id, { email_key: null, ...touch() }, { state, email_key }), `members ${id}`)
}
