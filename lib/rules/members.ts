import { sha256 } from '../base/sha256.ts'
import type { Context } from '../context.ts'
import { fail, found, invalid } from '../errors.ts'
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

/** The members of these keys of addresses. In the order of the keys SQLite uses their index; in that of ids it reads every member. */
export const membersByKeys = (tx: ScopedTx, email_key: readonly string[]): Promise<readonly MemberRow[]> =>
  tx.find(members, { where: { email_key }, order: { by: 'email_key', direction: 'asc' } })

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
 * A member who is still there, locked: they do not leave before the transaction ends, so that nothing is given to a person who
 * has gone.
 * @param strength `share` where others may do the same concurrently
 * @throws ApiError 404
 */
export async function lockMember({ tx }: Pick<Context, 'tx'>, id: Id, strength: LockStrength = 'update'): Promise<MemberRow> {
  const member = await tx.lock(members, id, strength)
  return found(member?.state === 'active' ? member : undefined, 'Member')
}

/**
 * A member, locked.
 * @param strength `share` where others may do the same concurrently
 * @throws Conflict when they have left or got another role since they were read
 */
export async function lockUnchanged(
  tx: ScopedTx,
  { id, state, role }: MemberRow,
  strength: LockStrength = 'update',
): Promise<MemberRow> {
  const member = await tx.lock(members, id, strength)
  return orConflict(member?.state === state && member.role === role ? member : undefined, `members ${id}`)
}

/** The network itself, locked: for rules about all of it. */
export async function lockNetwork(tx: ScopedTx): Promise<NetworkRow> {
  return found(await tx.lock(networks, tx.network_id, 'update'), 'Network')
}

/**
 * Refuses an address for the member who has it. That of a removed member is never refused.
 * @param field what the caller calls the address
 * @throws ApiError 422 when they are banned, or a member
 */
export function refuseHolder(field: string, member: MemberRow): void {
  const { state, member_type } = member
  if (isBanned(member)) fail(invalid(field), `${field} belongs to a member who is banned from this network`)
  const kind = member_type === 'limited' ? 'limited member' : 'member'
  if (state === 'active') fail(invalid(field), `${field} is already a ${kind} of this network`)
}

/**
 * The last host stays a host: otherwise the network could not be administered.
 * @throws ApiError 422
 */
export async function keepAHost(tx: ScopedTx, member: MemberRow): Promise<void> {
  if (member.role !== 'host') return
  // Locked, so that two hosts cannot go at the same moment, each counting on the other.
  await lockNetwork(tx)
  const hosts = await tx.find(members, { where: { state: 'active', role: 'host' }, limit: 2 })
  // Another request may have made the member less than a host since it was read.
  if (hosts.every(({ id }) => id === member.id))
    fail(invalid('role'), 'This is the last host of the network. Make another member a host first')
}
