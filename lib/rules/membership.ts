/** How members join and leave: what several resources do alike, with the events that go with it. */
import type { Emitter } from '../operation.ts'
import { presentMember } from '../records/member.ts'
import { removeDependents } from '../storage/cascade.ts'
import { count } from '../storage/counter.ts'
import {
  comments,
  type MemberRow,
  memberSegments,
  members,
  reactions,
  type SpaceRow,
  segments,
  spaceMemberships,
  spaces,
} from '../storage/tables.ts'

const batch = 200

/** Says that a member has joined the network: the network's id stands for the space. */
export function announceJoin(call: Emitter<'MemberJoined'>, member: MemberRow): void {
  call.emit('MemberJoined', { member: presentMember(call, member), space_id: call.network.id, network_id: call.network.id })
}

/**
 * Makes a member of a space, unless they are one.
 * @returns whether they joined now
 */
export async function joinSpace(call: Emitter<'MemberJoined'>, member: MemberRow, space: SpaceRow): Promise<boolean> {
  const key = { space_id: space.id, member_id: member.id }
  if (await call.tx.first(spaceMemberships, key)) return false
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
  if (!membership) return false
  await call.tx.remove(spaceMemberships, membership.id)
  call.emit('MemberLeft', { member: presentMember(call, member), space_id, network_id: call.network.id })
  return true
}

/**
 * Takes a member out of every space and out of the network, with all that goes along: memberships, reactions, tags, badges,
 * RSVPs, answers. What they wrote stays, and so does their row, which says from now on how they left.
 * @param state how they left; a deleted account gives its address free
 */
export async function leaveNetwork(
  call: Emitter<'MemberLeft'>,
  member: MemberRow,
  state: 'removed' | 'banned' | 'deleted',
  ban_reason: string | null = null,
): Promise<void> {
  const { tx } = call
  const left = presentMember(call, member)
  for (const membership of await tx.find(spaceMemberships, {
    where: { member_id: member.id },
    order: { by: 'space_id', direction: 'asc' },
  })) {
    await tx.remove(spaceMemberships, membership.id)
    call.emit('MemberLeft', { member: left, space_id: membership.space_id, network_id: call.network.id })
  }
  await uncount(call, member)
  await removeDependents(tx, members, member.id)
  await tx.update(members, member.id, { state, ban_reason, ...(state === 'deleted' ? { email_key: null } : {}), ...call.touch() })
  call.emit('MemberLeft', { member: left, space_id: call.network.id, network_id: call.network.id })
}

/** Takes what a member carries and likes out of the counts that others show. */
async function uncount({ tx }: Pick<Emitter<never>, 'tx'>, member: MemberRow): Promise<void> {
  for (let after = '0'; ; ) {
    const carried = await tx.find(memberSegments, { where: { member_id: member.id }, after, limit: batch })
    for (const { segment_id } of carried) await count(tx, segments, segment_id, 'member_count', -1)
    if (carried.length < batch) break
    after = carried.at(-1)?.id ?? after
  }
  for (let after = '0'; ; ) {
    const given = await tx.find(reactions, { where: { member_id: member.id }, after, limit: batch })
    for (const { comment_id } of given) if (comment_id) await count(tx, comments, comment_id, 'cheer_count', -1)
    if (given.length < batch) break
    after = given.at(-1)?.id ?? after
  }
}

/** The spaces with these ids, in ascending order of id; those that the network does not have are left out. */
export function spacesOf(tx: Emitter<never>['tx'], ids: readonly string[]): Promise<SpaceRow[]> {
  return tx.find(spaces, { where: { id: [...new Set(ids)] } })
}
