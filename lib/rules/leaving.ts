/** How members leave the network, what happens to their data, and what they find when they return. */
import { compareIds } from '../base/ids.ts'
import type { Emitter } from '../call.ts'
import type { Context } from '../context.ts'
import { found } from '../errors.ts'
import { presentMember } from '../records/member.ts'
import { removeDependents } from '../storage/cascade.ts'
import { orConflict } from '../storage/lock.ts'
import { batchesOf, rowsOf } from '../storage/rows-of.ts'
import type { Id } from '../storage/table.ts'
import { abuseReports, comments, reactions } from '../storage/tables/content.ts'
import { memberSegments, segments } from '../storage/tables/custom-fields.ts'
import { type MemberRow, memberHistory, members, spaceMemberships } from '../storage/tables/members.ts'
import { type PlanRow, plans, purchases, subscriptions } from '../storage/tables/plans.ts'
import { activeMember, bannedKey, keepAHost, lockUnchanged } from './members.ts'
import { releaseInvites } from './open-invites.ts'
import { endSubscription, grantAccess, liveStates, paidSource, revokePurchase } from './plans.ts'

/**
 * The member who is to leave, locked, so that nothing more is given to them.
 * @throws ApiError 404, 422 when it is the last host
 */
export async function lockDeparting(context: Pick<Context, 'tx'>, id: Id): Promise<MemberRow> {
  const member = await activeMember(context, id)
  await keepAHost(context.tx, member)
  return lockUnchanged(context.tx, member)
}

/**
 * Removes a member from every space and from the network, with all dependent rows: memberships, reactions, tags, badges, RSVPs,
 * answers. Their posts, their reports of abuse, their payments and their row stay on record; the row's state records how they
 * left. Their invites show no address any more. `lockDeparting` has locked them.
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
  const change = [{ state: member.state }, { state }] as const
  await releaseInvites(call, member)
  const key = state === 'deleted' ? { email_key: null } : {}
  await tx.update(members, member.id, { state, ban_reason, categories: [], ...key, ...departure(call), ...call.touch() })
  for (const membership of await tx.find(spaceMemberships, {
    where: { member_id: member.id },
    order: { by: 'space_id', direction: 'asc' },
  })) {
    await tx.remove(spaceMemberships, membership.id)
    call.emit('MemberLeft', { member: left, space_id: membership.space_id, network_id: call.network.id }, change)
  }
  await takeLikes(call, member)
  await takeSegments(call, member)
  await removeDependents(tx, members, member.id, [abuseReports.name, reactions.name, memberSegments.name, memberHistory.name])
  // A limited member belonged to spaces only.
  if (member.member_type === 'full')
    call.emit('MemberLeft', { member: left, space_id: call.network.id, network_id: call.network.id }, change)
}

/** Bans a member whom `lockDeparting` has locked: their payments end, and they cannot join again. */
export async function banMember(call: Emitter<'MemberLeft'>, member: MemberRow, reason: string | null): Promise<void> {
  await endPayments(call, member)
  await leaveNetwork(call, member, 'banned', reason)
}

const departure = ({ now, principal }: Context) => ({ left_at: now, left_by_id: principal.member_id })

/**
 * Deletes an account: of a member with everything that depends on them, of a former member what they have left. The address is
 * free again, but for a member who is banned: then a hash of it stays, so that the ban does.
 * @throws ApiError 404 when it is deleted, 422 when it is the last host's
 */
export async function deleteAccount(call: Emitter<'MemberLeft'>, id: Id): Promise<void> {
  const { tx } = call
  const known = await tx.get(members, id)
  const former = known?.state === 'removed' || known?.state === 'banned' ? known : undefined
  if (known?.state === 'active') await keepAHost(tx, known)
  // Unchanged, so that a person who is removed at the same moment is deleted all the same.
  const member = await lockUnchanged(tx, found(known?.state === 'deleted' ? undefined : known, 'Member'))
  await endPayments(call, member)
  if (!former) return leaveNetwork(call, member, 'deleted')
  await releaseInvites(call, member)
  const email_key = former.state === 'banned' ? await bannedKey(tx.network_id, member.email) : null
  await tx.update(members, id, { state: 'deleted', email_key, ...departure(call), ...call.touch() })
}

/** Ends every subscription of a member and revokes every purchase, so that nothing they bought continues. */
export async function endPayments(context: Context, member: MemberRow): Promise<void> {
  const { tx } = context
  for (const row of await tx.find(subscriptions, { where: { member_id: member.id, status: liveStates } }))
    await endSubscription(context, row)
  for (const row of await tx.find(purchases, { where: { member_id: member.id, revoked_at: null } }))
    await revokePurchase(context, row)
}

/** The plans that a former member still pays for, locked. Read them before the member is locked. */
export async function paidPlans({ tx }: Pick<Context, 'tx'>, { id: member_id }: MemberRow): Promise<readonly PlanRow[]> {
  const subscribed = await tx.find(subscriptions, { where: { member_id, status: liveStates } })
  const bought = await tx.find(purchases, { where: { member_id, revoked_at: null } })
  const ids = [...subscribed, ...bought].flatMap(({ plan_id }) => plan_id ?? [])
  const paid: PlanRow[] = []
  for (const { id } of await tx.find(plans, { where: { id: [...new Set(ids)] } })) {
    const plan = await tx.lock(plans, id, 'share')
    if (plan) paid.push(plan)
  }
  return paid
}

/** Opens the plans again that a person who comes back has gone on paying for, with the spaces that those open. */
export async function restoreAccess(call: Emitter<'MemberJoined'>, member: MemberRow, paid: readonly PlanRow[]): Promise<void> {
  for (const plan of paid) {
    const source = await paidSource(call, { plan_id: plan.id, member_id: member.id })
    if (source) await grantAccess(call, member, plan, source)
  }
}

/** Removes a member's likes, also from the counts that comments show. */
async function takeLikes({ tx }: Pick<Context, 'tx'>, { id: member_id }: MemberRow): Promise<void> {
  for await (const given of batchesOf(tx, reactions, { member_id })) {
    // The comment first, as everywhere, and the comments in one order.
    given.sort((a, b) => compareIds(a.comment_id ?? '', b.comment_id ?? ''))
    for (const { id, comment_id } of given) {
      if (comment_id) await tx.increment(comments, comment_id, { cheer_count: -1 })
      orConflict(await tx.remove(reactions, id), `reactions ${id}`)
    }
  }
}

/** Takes all tags, badges and options from a member, and out of the counts that they show. */
async function takeSegments({ tx }: Pick<Context, 'tx'>, { id: member_id }: MemberRow): Promise<void> {
  for await (const { id, segment_id } of rowsOf(tx, memberSegments, { member_id }, { by: 'segment_id' })) {
    await tx.increment(segments, segment_id, { member_count: -1 })
    orConflict(await tx.remove(memberSegments, id), `member_segments ${id}`)
  }
}
