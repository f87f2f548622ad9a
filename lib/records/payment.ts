/** Subscriptions and purchases: flat records of a member, with the plan as it was bought and the payment's own part. */
import type * as v from 'valibot'
import type { Context } from '../context.ts'
import { Bool, describe, Id, Integer, oneOf, orNull, record, Text, Timestamp } from '../fields.ts'
import { rowsNamed } from '../storage/rows-of.ts'
import { type MemberRow, members } from '../storage/tables/members.ts'
import type { PlanMembershipRow, PlanRow, PlanSnapshot, PurchaseRow, SubscriptionRow } from '../storage/tables/plans.ts'
import { Member, presentMember, ShownEmail } from './member.ts'
import { stamps } from './stamps.ts'

const SubscriptionPlan = record('SubscriptionPlanResponse', {
  id: describe(orNull(Id), 'The plan; null once it no longer exists.'),
  name: describe(orNull(Text), 'The name of the plan when it was bought; null once the plan no longer exists.'),
  amount: describe(Integer, 'The price of the plan in cents of `currency` when it was bought.'),
  currency: describe(Text, 'The currency of the price, such as `usd`.'),
  interval: describe(Text, 'The time that one payment covers, such as `month`, or `one_time`.'),
  type: describe(
    oneOf('free', 'subscription', 'one-time-payment'),
    'How the plan was sold. A plan by installments counts as `subscription`.',
  ),
  has_free_trial: describe(Bool, 'Whether the plan began with a free trial when it was bought.'),
})

const SubscriptionDetail = record('SubscriptionDetailResponse', {
  id: describe(Id, 'The id of the subscription, by which it is shown and canceled.'),
  current_period_start: describe(orNull(Timestamp), 'When the period that is paid for began; null if the host reported none.'),
  current_period_end: describe(orNull(Timestamp), 'When the period that is paid for ends; null if the host reported none.'),
  payment_platform: describe(orNull(Text), 'Who collects the payments, such as `stripe`; null if the host does not say.'),
  canceled_at: describe(
    orNull(Timestamp),
    'When the subscription was canceled; null while it renews. It may stay open until `current_period_end`.',
  ),
  trial_length: describe(orNull(Integer), 'The length of the free trial in days; null without one.'),
  trial_start: describe(orNull(Timestamp), 'When the free trial began; null without one.'),
  trial_end: describe(orNull(Timestamp), 'When the free trial ends or ended; null without one.'),
  purchased_at: describe(Timestamp, 'When the member subscribed.'),
})

export const Subscription = record('SubscriptionResponse', {
  member_id: describe(Id, 'The member who subscribed. They may have left since: receipts keep their names.'),
  created_at: describe(Timestamp, "When the member's record was created, in UTC; `subscription` shows when they subscribed."),
  updated_at: describe(Timestamp, "When the member's record last changed, in UTC."),
  email: ShownEmail,
  first_name: Member.entries.first_name,
  last_name: Member.entries.last_name,
  time_zone: Member.entries.time_zone,
  location: Member.entries.location,
  referral_count: Member.entries.referral_count,
  avatar: Member.entries.avatar,
  categories: Member.entries.categories,
  permalink: Member.entries.permalink,
  ambassador_level: Member.entries.ambassador_level,
  plan: describe(SubscriptionPlan, 'The plan as it was when the member bought it.'),
  subscription: describe(SubscriptionDetail, 'The payment itself: its period, its trial and its end.'),
})
export type SubscriptionRecord = v.InferOutput<typeof Subscription>

const PurchasePlan = record('PurchasePlanResponse', {
  id: SubscriptionPlan.entries.id,
  name: SubscriptionPlan.entries.name,
  amount: SubscriptionPlan.entries.amount,
  currency: SubscriptionPlan.entries.currency,
  interval: SubscriptionPlan.entries.interval,
  type: describe(oneOf('free', 'one-time-payment'), '`free` if nothing was paid, `one-time-payment` otherwise.'),
  has_free_trial: SubscriptionPlan.entries.has_free_trial,
})

const PurchaseDetail = record('PurchaseDetailResponse', {
  id: describe(Id, 'The id of the purchase, by which it is shown and revoked.'),
  tax_percent: describe(orNull(Integer), 'The tax in the price, in percent; null if the host does not say.'),
  payment_platform: describe(
    orNull(oneOf('stripe', 'apple', 'web3')),
    'Who collected the payment; null if the host does not say. `apple` payments can only be ended in the App Store.',
  ),
  purchased_at: describe(Timestamp, 'When the member bought the plan.'),
  created_at: stamps.created_at,
  updated_at: stamps.updated_at,
})

export const Purchase = record('PurchaseResponse', {
  member_id: describe(Id, 'The member who bought the plan. They may have left since: receipts keep their names.'),
  member_email: ShownEmail,
  member_first_name: Member.entries.first_name,
  member_last_name: Member.entries.last_name,
  member_time_zone: Member.entries.time_zone,
  member_location: Member.entries.location,
  member_referral_count: Member.entries.referral_count,
  member_avatar: Member.entries.avatar,
  member_categories: Member.entries.categories,
  member_permalink: orNull(Member.entries.permalink),
  member_ambassador_level: Member.entries.ambassador_level,
  plan: describe(PurchasePlan, 'The plan as it was when the member bought it.'),
  purchase: describe(PurchaseDetail, 'The payment itself.'),
})
export type PurchaseRecord = v.InferOutput<typeof Purchase>

/** The type of a plan in payments, by its price. Installments are paid one by one, like a subscription. */
export const kindOfPayment = (pricing: PlanRow['pricing_type']): PlanSnapshot['type'] => {
  if (pricing === 'subscription' || pricing === 'installment') return 'subscription'
  return pricing === 'one_time' || pricing === 'one_time_installment' ? 'one-time-payment' : 'free'
}

/** A plan as it is now, for the receipt: it may change or go afterwards. */
export const snapshotOf = (plan: PlanRow): PlanSnapshot => ({
  id: plan.id,
  name: plan.name,
  amount: plan.amount,
  currency: plan.currency,
  interval: plan.interval,
  type: kindOfPayment(plan.pricing_type),
  has_free_trial: plan.has_free_trial,
})

/** A subscription's record: the subscriber's fields, the plan as bought, the subscription. */
export function presentSubscription(
  context: Pick<Context, 'network' | 'permalink'>,
  row: SubscriptionRow,
  subscriber: MemberRow,
): SubscriptionRecord {
  return {
    ...presentMember(context, subscriber),
    member_id: subscriber.id,
    plan: { ...row.plan, id: row.plan_id, name: row.plan_id && row.plan.name },
    subscription: row,
  }
}

/** A purchase's record: the buyer's fields with the prefix `member_`, the plan as bought, the purchase. */
export function presentPurchase(
  context: Pick<Context, 'network' | 'permalink'>,
  row: Omit<PurchaseRow, 'network_id' | 'member_id' | 'revoked_at'>,
  buyer: MemberRow,
): PurchaseRecord {
  const member = presentMember(context, buyer)
  return {
    member_id: member.id,
    member_email: member.email,
    member_first_name: member.first_name,
    member_last_name: member.last_name,
    member_time_zone: member.time_zone,
    member_location: member.location,
    member_referral_count: member.referral_count,
    member_avatar: member.avatar,
    member_categories: member.categories,
    member_permalink: member.permalink,
    member_ambassador_level: member.ambassador_level,
    plan: { ...row.plan, id: row.plan_id, name: row.plan_id && row.plan.name },
    purchase: row,
  }
}

/** The records of some subscriptions, with their subscribers looked up together. */
export async function presentSubscriptions(context: Context, rows: readonly SubscriptionRow[]): Promise<SubscriptionRecord[]> {
  const subscriber = await payers(context, rows)
  return rows.map((row) => presentSubscription(context, row, subscriber(row)))
}

/** The records of some purchases, with their buyers looked up together. */
export async function presentPurchases(context: Context, rows: readonly PurchaseRow[]): Promise<PurchaseRecord[]> {
  const buyer = await payers(context, rows)
  return rows.map((row) => presentPurchase(context, row, buyer(row)))
}

async function payers({ tx }: Pick<Context, 'tx'>, rows: readonly { readonly id: string; readonly member_id: string }[]) {
  const people = await rowsNamed(tx, members, 'member_id', rows)
  return ({ id, member_id }: { readonly id: string; readonly member_id: string }): MemberRow => {
    const member = people.get(member_id)
    if (!member) throw new Error(`payment ${id} refers to a member that does not exist`)
    return member
  }
}

const platforms: readonly (string | null)[] = PurchaseDetail.entries.payment_platform.wrapped.options
const isPlatform = (name: string | null): name is PurchaseRow['payment_platform'] => platforms.includes(name)

/**
 * The payload about a new holder of a plan. It always has the form of a purchase: a subscription or a direct access is in
 * `purchase` with its own id. Only a payment counts as a price: a plan that was given away is free.
 */
export function presentSignup(
  context: Pick<Context, 'network' | 'permalink'>,
  ground: AccessGround,
  member: MemberRow,
): PurchaseRecord {
  if (ground.kind === 'purchase') return presentPurchase(context, ground.row, member)
  const { row } = ground
  const free = { type: 'free', amount: 0, interval: 'one_time' } as const
  const plan =
    ground.kind === 'subscription'
      ? { ...ground.row.plan, type: ground.row.plan.type === 'free' ? free.type : ('one-time-payment' as const) }
      : { ...snapshotOf(ground.plan), ...free }
  const platform = ground.kind === 'subscription' ? ground.row.payment_platform : null
  const payment = {
    id: row.id,
    plan_id: row.plan_id,
    plan,
    tax_percent: null,
    payment_platform: isPlatform(platform) ? platform : null,
    purchased_at: ground.kind === 'subscription' ? ground.row.purchased_at : row.created_at,
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
  return presentPurchase(context, payment, member)
}

/** The ground of an access: one of the member's payments, or the access itself if nothing was paid. */
export type AccessGround =
  | { readonly kind: 'subscription'; readonly row: SubscriptionRow }
  | { readonly kind: 'purchase'; readonly row: PurchaseRow }
  | { readonly kind: 'direct'; readonly row: PlanMembershipRow; readonly plan: PlanRow }

/**
 * The payload about a member who loses a plan. It always has the form of a subscription. A purchase or a direct access is in
 * `subscription` with its own id, and `canceled_at` is its end.
 */
export function presentRemoval(
  context: Pick<Context, 'network' | 'permalink' | 'now'>,
  ground: AccessGround,
  member: MemberRow,
): SubscriptionRecord {
  if (ground.kind === 'subscription') return presentSubscription(context, ground.row, member)
  const { row } = ground
  const plan = ground.kind === 'purchase' ? ground.row.plan : snapshotOf(ground.plan)
  return {
    ...presentMember(context, member),
    member_id: member.id,
    plan: { ...plan, id: row.plan_id, name: row.plan_id && plan.name },
    subscription: {
      id: row.id,
      current_period_start: null,
      current_period_end: null,
      payment_platform: ground.kind === 'purchase' ? ground.row.payment_platform : null,
      canceled_at: context.now,
      trial_length: null,
      trial_start: null,
      trial_end: null,
      purchased_at: ground.kind === 'purchase' ? ground.row.purchased_at : row.created_at,
    },
  }
}
