import type * as v from 'valibot'
import { sha256 } from '../base/sha256.ts'
import type { Emitter } from '../call.ts'
import type { Context } from '../context.ts'
import { fail, found, invalid } from '../errors.ts'
import { type MemberRecord, type MemberUpdate, presentMember } from '../records/member.ts'
import type { LockStrength } from '../storage/contract.ts'
import { orConflict } from '../storage/lock.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import type { Id } from '../storage/table.ts'
import { type NetworkRow, networks } from '../storage/tables/administration.ts'
import { type MemberRow, members } from '../storage/tables/members.ts'

/** The comparison key of an address: case does not matter. */
export const emailKey = (email: string): string => email.toLowerCase()

/** In place of the address of a deleted account that was banned. It is no address: it has no `@`. */
export const bannedKey = async (network_id: Id, email: string): Promise<string> =>
  `banned:${await sha256(`${network_id} ${emailKey(email)}`)}`

/** The member with this address, in whatever state; deleted accounts have given theirs free, unless they are banned. */
export const memberByAddress = async (tx: ScopedTx, email: string): Promise<MemberRow | undefined> =>
  (await tx.first(members, { email_key: emailKey(email) })) ??
  tx.first(members, { email_key: await bannedKey(tx.network_id, email) })

/** Whether a member is banned. The ban of an account stays when it is deleted. */
export const isBanned = ({ state, email_key }: Pick<MemberRow, 'state' | 'email_key'>): boolean =>
  state === 'banned' || (state === 'deleted' && email_key !== null)

/**
 * A member who is still there.
 * @throws ApiError 404
 */
export async function activeMember({ tx }: Pick<Context, 'tx'>, id: Id): Promise<MemberRow> {
  const member = await tx.get(members, id)
  return found(member?.state === 'active' ? member : undefined, 'Member')
}

/**
 * A member who is still there, locked: they do not leave before the transaction ends, so that nothing is given to somebody who
 * has gone.
 * @param strength `share` where others may do the same at once
 * @throws ApiError 404
 */
export async function lockMember({ tx }: Pick<Context, 'tx'>, id: Id, strength: LockStrength = 'update'): Promise<MemberRow> {
  const member = await tx.lock(members, id, strength)
  return found(member?.state === 'active' ? member : undefined, 'Member')
}

/**
 * A member, locked.
 * @throws Conflict when they have left or got another role since they were read
 */
export async function lockUnchanged(tx: ScopedTx, { id, state, role }: MemberRow): Promise<MemberRow> {
  const member = await tx.lock(members, id, 'update')
  return orConflict(member?.state === state && member.role === role ? member : undefined, `members ${id}`)
}

/** The network itself, locked: for rules about all of it. */
export async function lockNetwork(tx: ScopedTx): Promise<NetworkRow> {
  return found(await tx.lock(networks, tx.network_id, 'update'), 'Network')
}

/**
 * Changes a member's role and profile, and emits that.
 * @param space_id the space within which it happened; null for the network
 * @throws ApiError 422 when the address is another member's, or the network would lose its last host
 */
export async function changeMember(
  call: Emitter<'MemberUpdated'>,
  member: MemberRow,
  changes: v.InferOutput<typeof MemberUpdate>,
  space_id: Id | null,
): Promise<MemberRecord> {
  const { last_name, ...rest } = changes
  if (rest.role && rest.role !== 'host') await keepAHost(call.tx, member)
  if (rest.email) {
    const holder = await memberByAddress(call.tx, rest.email)
    if (holder && holder.id !== member.id) fail(invalid('email'), 'email is already a member of this network')
  }
  const patch = {
    ...rest,
    ...(last_name === undefined ? {} : { last_name: last_name ?? '' }),
    ...(rest.email ? { email_key: emailKey(rest.email) } : {}),
    ...call.touch(),
  }
  const unchanged = { state: 'active', role: member.role } as const
  const record = presentMember(
    call,
    orConflict(await call.tx.update(members, member.id, patch, unchanged), `members ${member.id}`),
  )
  call.emit('MemberUpdated', { member: record, space_id, network_id: call.network.id })
  return record
}

/**
 * The last host stays a host: without one nobody could administer the network.
 * @throws ApiError 422
 */
export async function keepAHost(tx: ScopedTx, member: MemberRow): Promise<void> {
  if (member.role !== 'host') return
  // Locked, so that two hosts cannot go at the same moment, each counting on the other.
  await lockNetwork(tx)
  const hosts = await tx.find(members, { where: { state: 'active', role: 'host' }, limit: 2 })
  if (hosts.length < 2) fail(invalid('role'), 'This is the last host of the network. Make another member a host first')
}
