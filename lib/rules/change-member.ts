import type * as v from 'valibot'
import type { Emitter } from '../call.ts'
import type { Context } from '../context.ts'
import { fail, found, invalid } from '../errors.ts'
import { type MemberRecord, type MemberUpdate, presentMember } from '../records/member.ts'
import { visibleEmail } from '../records/visible-email.ts'
import { orConflict } from '../storage/lock.ts'
import type { Id } from '../storage/table.ts'
import { type MemberRow, members } from '../storage/tables/members.ts'
import { activeMember, emailKey, keepAHost, lockMember, memberByAddress, refuseHolder } from './members.ts'
import { joinNetwork } from './membership.ts'
import { closeInvite, holdInvites, moveInvites } from './open-invites.ts'

/**
 * Changes a member's role, profile and member type, and emits that. A limited member who becomes a full one joins the network.
 * @param space_id the space within which it happened; null for the network
 * @param roles the member's role in that space, before and after
 * @throws ApiError 404, 422 when the address is another member's, a full member would become limited, or the network would lose its
 * last host
 */
export async function changeMember(
  call: Emitter<'MemberUpdated' | 'MemberJoined'>,
  id: Id,
  changes: v.InferOutput<typeof MemberUpdate>,
  space_id: Id | null,
  roles: Roles = [],
): Promise<MemberRecord> {
  const { last_name, ...rest } = changes
  const isDemoted = ({ role }: MemberRow): boolean => rest.role !== undefined && rest.role !== 'host' && role === 'host'
  const isJoining = ({ member_type }: MemberRow): boolean => rest.member_type === 'full' && member_type === 'limited'
  const isMoving = ({ email_key }: MemberRow): boolean => rest.email !== undefined && emailKey(rest.email) !== email_key
  const entersOrMoves = (row: MemberRow): boolean => isJoining(row) || isMoving(row)
  // The network first, if it will be needed, so this looks before it locks.
  const seen = await activeMember(call, id)
  if (isDemoted(seen)) await keepAHost(call.tx, seen)
  if (entersOrMoves(seen)) await holdInvites(call.tx)
  const member = await lockMember(call, id)
  const needsMore = (isDemoted(member) && !isDemoted(seen)) || (entersOrMoves(member) && !entersOrMoves(seen))
  orConflict(needsMore ? undefined : member, `members ${id}`)
  if (rest.member_type === 'limited' && member.member_type === 'full')
    fail(
      invalid('member_type'),
      'member_type cannot become limited: remove the member from the network, then create them as a limited member',
    )
  const [joins, moves] = [isJoining(member), isMoving(member)]
  if (moves) await freeAddress(call, rest.email ?? '')
  const patch = {
    ...rest,
    ...(last_name === undefined ? {} : { last_name: last_name ?? '' }),
    ...(rest.email ? { email_key: emailKey(rest.email) } : {}),
    ...call.touch(),
  }
  const changed = found(await call.tx.update(members, id, patch), 'Member')
  if (moves) await moveInvites(call, member, changed.email)
  const record = emitMemberUpdated(call, member, changed, space_id, roles)
  if (joins) await joinNetwork(call, changed)
  else if (moves && changed.member_type === 'full') await closeInvite(call, changed, null)
  return record
}

/** The role of a member in a space before and after a change; empty for a change in the network. */
type Roles = readonly { readonly role: MemberRow['role'] | null }[]

export function emitMemberUpdated(
  call: Emitter<'MemberUpdated'>,
  before: MemberRow,
  after: MemberRow,
  space_id: Id | null = null,
  [rolesBefore, rolesAfter]: Roles = [],
): MemberRecord {
  const member = presentMember(call, after)
  // The address changes for others with the consent, too.
  const shown = (row: MemberRow) => ({ ...row, email: [row.email, visibleEmail(row, call.network)] })
  call.emit('MemberUpdated', { member, space_id, network_id: call.network.id }, [
    { ...shown(before), ...rolesBefore },
    { ...shown(after), ...rolesAfter },
  ])
  return member
}

/**
 * Takes an address from a removed member, for whom it was kept: they come back as another person then.
 * @throws ApiError 422 when it is that of a member, or of a banned one
 */
async function freeAddress({ tx, touch }: Context, email: string): Promise<void> {
  const holder = await memberByAddress(tx, email)
  if (!holder) return
  refuseHolder('email', holder)
  const { id, state, email_key } = holder
  orConflict(await tx.update(members, id, { email_key: null, ...touch() }, { state, email_key }), `members ${id}`)
}
