/** How members leave the network, what becomes of what they had there, and what they find when they come back. */
import type { Context, Emitter } from '../operation.ts'
import { presentMember } from '../records/member.ts'
import { removeDependents } from '../storage/cascade.ts'
import { Conflict } from '../storage/contract.ts'
import { count } from '../storage/counter.ts'
import {
  comments,
  type MemberRow,
  memberSegments,
  members,
  plans,
  purchases,
  reactions,
  segments,
  spaceMemberships,
  subscriptions,
} from '../storage/tables.ts'
import { endSubscription, grantAccess, liveStates, revokePurchase } from './plans.ts'

const batch = 200

/**
 * Takes a member out of every space and out of the network, with all that goes along: memberships, reactions, tags, badges,
 * RSVPs, answers. What they wrote and what they paid for stays on record, and so does their row, which says from now on how
 * they left.
 * @param state how they left; a deleted account gives its address free
 * @throws Conflict when somebody else sent them away at the same moment; the kernel runs the work again
 */
export async function leaveNetwork(
  call: Emitter<'MemberLeft'>,
  member: MemberRow,
  state: 'removed' | 'banned' | 'deleted',
  ban_reason: string | null = null,
): Promise<void> {
  const { tx } = call
  const left = presentMember(call, member)
  const key = state === 'deleted' ? { email_key: null } : {}
  // Guarded, so that of two who send the same member away one does it, and it is announced once.
  const gone = await tx.update(
    members,
    member.id,
    { state, ban_reason, categories: [], ...key, ...call.touch() },
    { state: 'active' },
  )
  if (!gone) throw new Conflict(`members ${member.id} has left already`)
  for (const membership of await tx.find(spaceMemberships, {
    where: { member_id: member.id },
    order: { by: 'space_id', direction: 'asc' },
  })) {
    await tx.remove(spaceMemberships, membership.id)
    call.emit('MemberLeft', { member: left, space_id: membership.space_id, network_id: call.network.id })
  }
  await uncount(call, member)
  await removeDependents(tx, members, member.id)
  call.emit('MemberLeft', { member: left, space_id: call.network.id, network_id: call.network.id })
}

/** Ends every subscription of a member and revokes every purchase: nothing that they bought goes on. */
export async function endPayments(context: Context, member: MemberRow): Promise<void> {
  const { tx } = context
  for (const row of await tx.find(subscriptions, { where: { member_id: member.id, status: liveStates } }))
    await endSubscription(context, row)
  for (const row of await tx.find(purchases, { where: { member_id: member.id, revoked_at: null } }))
    await revokePurchase(context, row)
}

/** Opens the plans again that somebody who comes back has gone on paying for, with the spaces that those open. */
export async function restoreAccess(call: Emitter<'MemberJoined'>, member: MemberRow): Promise<void> {
  const { tx } = call
  const subscribed = await tx.find(subscriptions, { where: { member_id: member.id, status: liveStates } })
  const bought = await tx.find(purchases, { where: { member_id: member.id, revoked_at: null } })
  const grounds = [
    ...subscribed.map(({ plan_id }) => ({ plan_id, source: 'subscription' as const })),
    ...bought.map(({ plan_id }) => ({ plan_id, source: 'purchase' as const })),
  ]
  for (const { plan_id, source } of grounds) {
    const plan = plan_id === null ? undefined : await tx.get(plans, plan_id)
    if (plan) await grantAccess(call, member, plan, source)
  }
}

/** Takes what a member carries and likes out of the counts that others show. */
async function uncount({ tx }: Pick<Context, 'tx'>, member: MemberRow): Promise<void> {
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
