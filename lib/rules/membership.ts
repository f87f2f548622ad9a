/** How members join the network and its spaces, and leave a space: what several resources do alike, with the events that go with it. */
import type { Emitter } from '../call.ts'
import { presentMember } from '../records/member.ts'
import { orConflict } from '../storage/lock.ts'
import { type MemberRow, type SpaceRow, spaceMemberships, spaces } from '../storage/tables/members.ts'
import { closeInvite } from './open-invites.ts'

/**
 * Emits that a member has joined the network: the network's id replaces the space. It closes the invite that they had. The caller
 * holds off new ones by `holdInvites`.
 */
export async function joinNetwork(call: Emitter<'MemberJoined'>, member: MemberRow): Promise<void> {
  await closeInvite(call, member, null)
  call.emit('MemberJoined', { member: presentMember(call, member), space_id: call.network.id, network_id: call.network.id })
}

/**
 * Makes a member of a space, unless they are one. The caller has locked the member.
 * @returns whether they joined now
 * @throws Conflict when the space has gone since it was read; the kernel runs the work again
 */
export async function joinSpace(call: Emitter<'MemberJoined'>, member: MemberRow, space: SpaceRow): Promise<boolean> {
  const key = { space_id: space.id, member_id: member.id }
  if (await call.tx.first(spaceMemberships, key)) return false
  orConflict(await call.tx.lock(spaces, space.id, 'share'), `spaces ${space.id}`)
  await call.tx.insert(spaceMemberships, { ...call.stamp(), ...key })
  call.emit('MemberJoined', { member: presentMember(call, member), space_id: space.id, network_id: call.network.id })
  return true
}

/**
 * Takes a member out of a space.
 * @returns whether they were in it
 */
export async function leaveSpace(call: Emitter<'MemberLeft'>, member: MemberRow, space_id: string): Promise<boolean> {
  const membership = await call.tx.first(spaceMemberships, { space_id, member_id: member.id })
  if (!membership || !(await call.tx.remove(spaceMemberships, membership.id))) return false
  call.emit('MemberLeft', { member: presentMember(call, member), space_id, network_id: call.network.id })
  return true
}

/** The spaces with these ids, in ascending order of id; those that the network does not have are left out. */
export function spacesOf(tx: Emitter<never>['tx'], ids: readonly string[]): Promise<SpaceRow[]> {
  return tx.find(spaces, { where: { id: [...new Set(ids)] } })
}
