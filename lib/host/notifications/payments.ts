/** Payments for plans, as the host's payment provider reports them. */
import * as v from 'valibot'
import type { Context } from '../../context.ts'
import { fail, found, invalid } from '../../errors.ts'
import { IdInput, integerBetween, listOf, oneOf, optional, ShortText, TimestampInput } from '../../fields.ts'
import {
  kindOfPayment,
  Purchase,
  presentPurchase,
  presentSignup,
  presentSubscription,
  presentSubscriptions,
  Subscription,
  snapshotOf,
} from '../../records/payment.ts'
import { lockMember } from '../../rules/members.ts'
import { endPaidAccess, endSubscription, grantAccess, liveStates, lockPayer, openPlan } from '../../rules/plans.ts'
import type { Patch } from '../../storage/contract.ts'
import { orConflict } from '../../storage/lock.ts'
import { batchSize } from '../../storage/rows-of.ts'
import type { Id } from '../../storage/table.ts'
import { members } from '../../storage/tables/members.ts'
import { type PlanRow, purchases, type SubscriptionRow, subscriptions } from '../../storage/tables/plans.ts'
import type { MakeNotification, NotificationInput } from './define.ts'

const period = { current_period_start: optional(TimestampInput), current_period_end: optional(TimestampInput) }

/** The subscriptions of one transaction that ended, and behind which id the next ones are. */
const EndedPage = v.object({ ended: listOf(Subscription), next: v.nullable(v.string()) })

type EndPage = (
  given: NotificationInput<{ after: ReturnType<typeof optional<typeof IdInput>> }>,
) => Promise<v.InferOutput<typeof EndedPage>>

/** One call for all pages, each in a separate transaction. */
const allPages =
  (endPage: EndPage) =>
  async (given: NotificationInput<Record<never, never>>): Promise<v.InferOutput<typeof EndedPage>['ended']> => {
    const all: v.InferOutput<typeof EndedPage>['ended'] = []
    for (let after: Id | undefined; ; ) {
      const { ended, next } = await endPage(after === undefined ? given : { ...given, after })
      for (const each of ended) all.push(each)
      if (next === null) return all
      after = next
    }
  }

export const paymentNotifications = (notification: MakeNotification) => ({
  /**
   * A member has subscribed to a plan: it opens for them, with its spaces (`MemberPurchased`, and `MemberJoined` for each that
   * they join).
   * @throws ApiError 404 for the plan or the member, 422 when the plan is archived or sold by single payments
   */
  subscription: notification(
    {
      member_id: IdInput,
      plan_id: IdInput,
      ...period,
      payment_platform: optional(ShortText),
      trial_length: optional(integerBetween(0, 3650)),
      trial_start: optional(TimestampInput),
      trial_end: optional(TimestampInput),
      purchased_at: optional(TimestampInput),
    },
    Subscription,
    async (call, { member_id, plan_id, purchased_at = call.now, ...fields }) => {
      const plan = subscribable(await openPlan(call, plan_id))
      const member = await lockMember(call, member_id)
      const row = await call.tx.insert(subscriptions, {
        ...call.stamp(),
        ...fields,
        member_id: member.id,
        plan_id: plan.id,
        plan: snapshotOf(plan),
        purchased_at,
      })
      call.emit('MemberPurchased', presentSignup(call, { kind: 'subscription', row }, member))
      await grantAccess(call, member, plan, 'subscription')
      return presentSubscription(call, row, member)
    },
  ),

  /**
   * A subscription was paid for another period: `MemberSubscriptionRenewed`. Without `current_period_start` the new period
   * begins where the old one ended.
   * @throws ApiError 404, 422 when it is canceled
   */
  subscriptionRenewed: notification(
    { subscription_id: IdInput, current_period_start: period.current_period_start, current_period_end: TimestampInput },
    Subscription,
    async (call, { subscription_id, current_period_start, current_period_end }) => {
      const before = await uncanceled(call, subscription_id)
      const start = current_period_start ?? before.current_period_end ?? call.now
      if (start >= current_period_end) fail(invalid('current_period_end'), 'current_period_end must be later than the start')
      const changes = { current_period_start: start, current_period_end, ...call.touch() }
      const row = await change(call, before, changes)
      const record = presentSubscription(call, row, found(await call.tx.get(members, row.member_id), 'Member'))
      call.emit('MemberSubscriptionRenewed', record)
      return record
    },
  ),

  /**
   * A subscriber has moved to another plan: that one opens and the old one closes for them (`MemberPlanChanged`).
   * @throws ApiError 404, 422 when the subscription is canceled or the plan is the same, archived, or sold by single payments
   */
  planChanged: notification({ subscription_id: IdInput, plan_id: IdInput, ...period }, Subscription, async (call, given) => {
    const { subscription_id, plan_id, ...fields } = given
    const before = await uncanceled(call, subscription_id)
    const plan = subscribable(await openPlan(call, plan_id))
    if (plan.id === before.plan_id) fail(invalid('plan_id'), 'plan_id is already the plan of the subscription')
    const member = await lockMember(call, before.member_id)
    const changes = { ...fields, plan_id: plan.id, plan: snapshotOf(plan), ...call.touch() }
    const row = await change(call, before, changes)
    await endPaidAccess(call, before)
    await grantAccess(call, member, plan, 'subscription')
    const record = presentSubscription(call, row, member)
    call.emit('MemberPlanChanged', record)
    return record
  }),

  /**
   * Ends the subscriptions whose last billing period is over, and the access that they gave. Call it regularly: nothing else
   * ends them. It sends no event, because the cancellation has sent one. Some hundreds share a transaction. After a fault the
   * ended ones stay ended, and the next call continues.
   * @returns those that ended
   */
  subscriptionsEnded: allPages(
    notification({ after: optional(IdInput) }, EndedPage, async (call, { after = '0' }) => {
      const rows = await call.tx.find(subscriptions, { where: { status: 'ending' }, after, limit: batchSize })
      const ended: SubscriptionRow[] = []
      for (const row of rows) {
        if (row.current_period_end !== null && row.current_period_end > call.now) continue
        await lockPayer(call, row)
        const over = await endSubscription(call, row)
        if (!over) continue
        await endPaidAccess(call, over)
        ended.push(over)
      }
      const next = rows.length < batchSize ? null : (rows.at(-1)?.id ?? null)
      return { ended: await presentSubscriptions(call, ended), next }
    }),
  ),

  /**
   * A member has bought a plan by a single payment. The plan opens for them, with its spaces (`MemberPurchased`, and
   * `MemberJoined` for each space that they join).
   * @throws ApiError 404 for the plan or the member, 422 when the plan is archived or sold by subscription
   */
  purchase: notification(
    {
      member_id: IdInput,
      plan_id: IdInput,
      tax_percent: optional(integerBetween(0, 100)),
      payment_platform: optional(oneOf('stripe', 'apple', 'web3')),
      purchased_at: optional(TimestampInput),
    },
    Purchase,
    async (call, { member_id, plan_id, purchased_at = call.now, ...fields }) => {
      const plan = await openPlan(call, plan_id)
      const { type, ...snapshot } = snapshotOf(plan)
      if (type === 'subscription') fail(invalid('plan_id'), 'The plan is sold by subscription: record a subscription')
      const member = await lockMember(call, member_id)
      const row = await call.tx.insert(purchases, {
        ...call.stamp(),
        ...fields,
        member_id: member.id,
        plan_id: plan.id,
        plan: { ...snapshot, type, interval: 'one_time' },
        purchased_at,
      })
      const record = presentPurchase(call, row, member)
      call.emit('MemberPurchased', record)
      await grantAccess(call, member, plan, 'purchase')
      return record
    },
  ),
})

const subscribable = (plan: PlanRow): PlanRow =>
  kindOfPayment(plan.pricing_type) === 'one-time-payment'
    ? fail(invalid('plan_id'), 'The plan is sold by single payments: record a purchase')
    : plan

/** A live subscription. A canceled one, even to the end of its period, is not changed any more. */
async function uncanceled({ tx }: Pick<Context, 'tx'>, id: Id): Promise<SubscriptionRow> {
  const row = found(await tx.get(subscriptions, id), 'Subscription')
  const isLive = liveStates.some((state) => state === row.status)
  if (row.status === 'active') return row
  fail(invalid('subscription_id'), `The subscription is canceled${isLive ? ' to the end of its period' : ''}: record a new one`)
}

/** Changes a live subscription. One that is canceled or moves to another plan at this moment is read again. */
async function change(
  { tx }: Pick<Context, 'tx'>,
  { id, plan_id }: SubscriptionRow,
  changes: Patch<SubscriptionRow>,
): Promise<SubscriptionRow> {
  return orConflict(await tx.update(subscriptions, id, changes, { status: 'active', plan_id }), `subscriptions ${id}`)
}
