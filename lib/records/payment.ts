/** Subscriptions and purchases: flat records of a member, with the plan as it was bought and the payment's own part. */
import type * as v from 'valibot'
import type { Context } from '../context.ts'
import { Bool, Id, Integer, listOf, oneOf, orNull, record, Text, Timestamp, Url } from '../fields.ts'
import { type MemberRow, members } from '../storage/tables/members.ts'
import type { PlanMembershipRow, PlanRow, PlanSnapshot, PurchaseRow, SubscriptionRow } from '../storage/tables/plans.ts'
import { Category, presentMember } from './member.ts'

const SubscriptionPlan = record('SubscriptionPlanResponse', {
  id: orNull(Id),
  name: orNull(Text),
  amount: Integer,
  currency: Text,
  interval: Text,
  type: oneOf('free', 'subscription', 'one-time-payment'),
  has_free_trial: Bool,
})

const SubscriptionDetail = record('SubscriptionDetailResponse', {
  id: Id,
  current_period_start: orNull(Timestamp),
  current_period_end: orNull(Timestamp),
  payment_platform: orNull(Text),
  canceled_at: orNull(Timestamp),
  trial_length: orNull(Integer),
  trial_start: orNull(Timestamp),
  trial_end: orNull(Timestamp),
  purchased_at: Timestamp,
})

export const Subscription = record('SubscriptionResponse', {
  member_id: Id,
  created_at: Timestamp,
  updated_at: Timestamp,
  email: Text,
  first_name: orNull(Text),
  last_name: orNull(Text),
  time_zone: orNull(Text),
  location: orNull(Text),
  referral_count: orNull(Integer),
  avatar: orNull(Url),
  categories: listOf(Category),
  permalink: Url,
  ambassador_level: orNull(Text),
  plan: SubscriptionPlan,
  subscription: SubscriptionDetail,
})
export type SubscriptionRecord = v.InferOutput<typeof Subscription>

const PurchasePlan = record('PurchasePlanResponse', {
  id: orNull(Id),
  name: orNull(Text),
  amount: Integer,
  currency: Text,
  interval: Text,
  type: oneOf('free', 'one-time-payment'),
  has_free_trial: Bool,
})

const PurchaseDetail = record('PurchaseDetailResponse', {
  id: Id,
  tax_percent: orNull(Integer),
  payment_platform: orNull(oneOf('stripe', 'apple', 'web3')),
  purchased_at: Timestamp,
  created_at: Timestamp,
  updated_at: Timestamp,
})

export const Purchase = record('PurchaseResponse', {
  member_id: Id,
  member_email: Text,
  member_first_name: orNull(Text),
  member_last_name: orNull(Text),
  member_time_zone: orNull(Text),
  member_location: orNull(Text),
  member_referral_count: orNull(Integer),
  member_avatar: orNull(Url),
  member_categories: listOf(Category),
  member_permalink: orNull(Url),
  member_ambassador_level: orNull(Text),
  plan: PurchasePlan,
  purchase: PurchaseDetail,
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
  const people = await tx.find(members, { where: { id: [...new Set(rows.map((row) => row.member_id))] } })
  const byId = new Map(people.map((member) => [member.id, member]))
  return ({ id, member_id }: { readonly id: string; readonly member_id: string }): MemberRow => {
    const member = byId.get(member_id)
    if (!member) throw new Error(`payment ${id} has lost its member`)
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
