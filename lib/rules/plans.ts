/** Access to a plan: how it begins, with the spaces that the plan opens, and how it ends, with its payments. */

import type { Emitter } from '../call.ts'
import type { Context } from '../context.ts'
import { fail, found, invalid } from '../errors.ts'
import { type AccessGround, presentRemoval, presentSignup } from '../records/payment.ts'
import type { Id } from '../storage/table.ts'
import { type MemberRow, members } from '../storage/tables/members.ts'
import {
  type PlanMembershipRow,
  type PlanRow,
  type PurchaseRow,
  planMemberships,
  planSpaces,
  plans,
  purchases,
  type SubscriptionRow,
  subscriptions,
} from '../storage/tables/plans.ts'
import { joinSpace, spacesOf } from './membership.ts'
import { closeInvite } from './open-invites.ts'

type Key = { readonly plan_id: Id; readonly member_id: Id }

/** The states of a subscription that has not ended. */
export const liveStates = ['active', 'ending'] as const

/**
 * A plan that still takes members. It is locked, so that it is not archived at the same time; others may get in at the same time.
 * @throws ApiError 404, 422 when it is archived
 */
export async function openPlan({ tx }: Pick<Context, 'tx'>, id: Id): Promise<PlanRow> {
  const plan = found(await tx.lock(plans, id, 'share'), 'Plan')
  return plan.status === 'archived' ? fail(invalid('plan_id'), 'The plan is archived and takes no more members') : plan
}

export const accessTo = ({ tx }: Pick<Context, 'tx'>, { plan_id, member_id }: Key): Promise<PlanMembershipRow | undefined> =>
  tx.first(planMemberships, { plan_id, member_id })

/** The paying member, locked, even after they have left: payments and access change only under this lock. */
export async function lockPayer({ tx }: Pick<Context, 'tx'>, { member_id }: { readonly member_id: Id }): Promise<MemberRow> {
  return found(await tx.lock(members, member_id, 'update'), 'Member')
}

/**
 * Opens a plan for a member, and the plan's spaces, unless it is open for them already. The caller has locked both.
 * @param source by what; access that is there already keeps its own
 * @returns the access, if it was opened now
 */
export async function grantAccess(
  call: Emitter<'MemberJoined'>,
  member: MemberRow,
  plan: PlanRow,
  source: PlanMembershipRow['source'],
): Promise<PlanMembershipRow | undefined> {
  const key = { plan_id: plan.id, member_id: member.id }
  if (await accessTo(call, key)) return undefined
  const access = await call.tx.insert(planMemberships, { ...call.stamp(), ...key, source })
  const order = { by: 'space_id', direction: 'asc' } as const
  const opened = await call.tx.find(planSpaces, { where: { plan_id: plan.id }, order })
  const included = await spacesOf(
    call.tx,
    opened.map((row) => row.space_id),
  )
  for (const space of included) await joinSpace(call, member, space)
  return access
}

/**
 * Opens a plan for a member without a payment, by the host or an invite, and emits that. If they pay for it, it outlasts the
 * payment from now on. It closes their invite to the plan. A payment does not, because the invite offers more.
 */
export async function giveAccess(
  call: Emitter<'MemberJoined' | 'MemberPurchased'>,
  member: MemberRow,
  plan: PlanRow,
  source: 'direct' | 'invite',
): Promise<void> {
  const known = await accessTo(call, { plan_id: plan.id, member_id: member.id })
  if (known)
    await call.tx.update(planMemberships, known.id, { source, ...call.touch() }, { source: ['subscription', 'purchase'] })
  const row = await grantAccess(call, member, plan, source)
  await closeInvite(call, member, plan.id)
  if (row) call.emit('MemberPurchased', presentSignup(call, { kind: 'direct', row, plan }, member))
}

/**
 * Ends the access that a payment gave, now that the payment has ended. The caller has locked the member. Access by the host or
 * an invite stays, and so does access by another payment of the member for the same plan.
 * @returns whether access ended
 */
export async function endPaidAccess(context: Context, { plan_id, member_id }: Pick<SubscriptionRow, 'plan_id' | 'member_id'>) {
  if (plan_id === null) return false
  const { tx } = context
  const key = { plan_id, member_id }
  const access = await accessTo(context, key)
  if (!access || access.source === 'direct' || access.source === 'invite') return false
  const source = await paidSource(context, key)
  if (source === undefined) await tx.remove(planMemberships, access.id)
  else if (source !== access.source) await tx.update(planMemberships, access.id, { source, ...context.touch() })
  return source === undefined
}

/** By what a member pays for a plan, if they do. */
export async function paidSource({ tx }: Pick<Context, 'tx'>, key: Key): Promise<'subscription' | 'purchase' | undefined> {
  if (await tx.first(subscriptions, { ...key, status: liveStates })) return 'subscription'
  return (await tx.first(purchases, { ...key, revoked_at: null })) && 'purchase'
}

/** Ends a subscription immediately, without an event. `undefined`: it has ended already. */
export function endSubscription({ tx, now, touch }: Context, row: SubscriptionRow): Promise<SubscriptionRow | undefined> {
  const ended = { status: 'canceled', canceled_at: row.canceled_at ?? now, ...touch() } as const
  return tx.update(subscriptions, row.id, ended, { status: liveStates })
}

/** Takes back what a purchase gave, without a word. `undefined`: that was done already. */
export function revokePurchase({ tx, now, touch }: Context, row: PurchaseRow): Promise<PurchaseRow | undefined> {
  return tx.update(purchases, row.id, { revoked_at: now, ...touch() }, { revoked_at: null })
}

/**
 * Takes a member off a plan: every payment for it ends, and with them the access. The caller has locked the member.
 * @param announceCancel called for each subscription that this ends, before the removal is announced
 */
export async function takeOffPlan(
  call: Emitter<'MemberRemovedFromPlan'>,
  plan: PlanRow,
  member: MemberRow,
  access: PlanMembershipRow,
  announceCancel: (subscription: SubscriptionRow) => void = () => {},
): Promise<void> {
  const { tx } = call
  const key = { plan_id: plan.id, member_id: member.id }
  let ground: AccessGround = { kind: 'direct', row: access, plan }
  for (const row of await tx.find(purchases, { where: { ...key, revoked_at: null } })) {
    ground = { kind: 'purchase', row: (await revokePurchase(call, row)) ?? row }
  }
  for (const row of await tx.find(subscriptions, { where: { ...key, status: liveStates } })) {
    const ended = (await endSubscription(call, row)) ?? row
    announceCancel(ended)
    ground = { kind: 'subscription', row: ended }
  }
  await tx.remove(planMemberships, access.id)
  announceRemoval(call, ground, member)
}

/** Emits that a member has lost a plan. */
export function announceRemoval(call: Emitter<'MemberRemovedFromPlan'>, ground: AccessGround, member: MemberRow): void {
  call.emit('MemberRemovedFromPlan', presentRemoval(call, ground, member))
}
