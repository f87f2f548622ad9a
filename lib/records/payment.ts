/** Subscriptions and purchases: flat records of a member, with the plan as it was bought and the payment's own part. */
import type * as v from 'valibot'
import { Bool, Id, Integer, listOf, oneOf, orNull, record, Text, Timestamp, Url } from '../fields.ts'
import type { Context } from '../operation.ts'
import type { MemberRow, PurchaseRow, SubscriptionRow } from '../storage/tables.ts'
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
  row: PurchaseRow,
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
