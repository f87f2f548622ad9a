/** Plans, payments and invites. */
import { boolean, defaultsTo, id, integer, json, nullable, type RowIn, reference, table, text, timestamp } from '../table.ts'

/** How plans are sold. */
export const pricingTypes = [
  'free',
  'subscription',
  'one_time',
  'installment',
  'one_time_installment',
  'token_gated',
  'nonpaid',
] as const

export const plans = table('plans', {
  name: text(),
  description: nullable(text()),
  status: defaultsTo(text<'visible' | 'hidden' | 'pending' | 'rejected' | 'archived' | 'legacy'>(), 'visible'),
  pricing_type: defaultsTo(text<(typeof pricingTypes)[number]>(), 'free'),
  visible_to_members: defaultsTo(boolean(), true),
  external: defaultsTo(boolean(), false),
  multiple: defaultsTo(boolean(), false),
  /** Price in cents. */
  amount: defaultsTo(integer(), 0),
  currency: defaultsTo(text(), 'usd'),
  interval: defaultsTo(text(), 'month'),
  has_free_trial: defaultsTo(boolean(), false),
})

/** The spaces that a plan opens. */
export const planSpaces = table(
  'plan_spaces',
  { plan_id: reference('plans', 'cascade'), space_id: reference('spaces', 'cascade') },
  { unique: [['plan_id', 'space_id']], indexes: [['plan_id', 'space_id']] },
)

/** Access to plans, and its ground: `direct`, `invite`, `subscription` or `purchase`. */
export const planMemberships = table(
  'plan_memberships',
  {
    plan_id: reference('plans', 'cascade'),
    member_id: reference('members', 'cascade'),
    source: text<'direct' | 'invite' | 'subscription' | 'purchase'>(),
  },
  {
    unique: [['plan_id', 'member_id']],
    indexes: [
      ['plan_id', 'member_id'],
      ['member_id', 'plan_id'],
    ],
  },
)

/** The bought plan as it was then: a plan may change or be removed, the receipt stays. */
export interface PlanSnapshot {
  /** The plan; null once it no longer exists. */
  readonly id: string | null
  /** Its name then; null if it is not known. */
  readonly name: string | null
  /** The price in cents of `currency`. */
  readonly amount: number
  /** In small letters, such as `usd`. */
  readonly currency: string
  /** The time that one payment covers, such as `month`, or `one_time`. */
  readonly interval: string
  /** Free, paid again and again, or paid once. */
  readonly type: 'free' | 'subscription' | 'one-time-payment'
  /** Whether it began with a free trial. */
  readonly has_free_trial: boolean
}

export const subscriptions = table(
  'subscriptions',
  {
    /** A former member is no member any more, but their payments stay on record. */
    member_id: id(),
    plan_id: nullable(reference('plans', 'clear')),
    plan: json<PlanSnapshot>(),
    /** One that is canceled to the end of its billing period is `ending` until then: still live, and its plan open. */
    status: defaultsTo(text<'active' | 'ending' | 'canceled'>(), 'active'),
    current_period_start: nullable(timestamp()),
    current_period_end: nullable(timestamp()),
    payment_platform: nullable(text()),
    canceled_at: nullable(timestamp()),
    trial_length: nullable(integer()),
    trial_start: nullable(timestamp()),
    trial_end: nullable(timestamp()),
    purchased_at: timestamp(),
  },
  { indexes: [['status'], ['member_id'], ['status', 'member_id'], ['plan_id', 'member_id'], ['plan_id', 'status']] },
)

export const purchases = table(
  'purchases',
  {
    member_id: id(),
    plan_id: nullable(reference('plans', 'clear')),
    plan: json<PlanSnapshot & { readonly type: 'free' | 'one-time-payment' }>(),
    tax_percent: nullable(integer()),
    payment_platform: nullable(text<'stripe' | 'apple' | 'web3'>()),
    purchased_at: timestamp(),
    revoked_at: nullable(timestamp()),
  },
  { indexes: [['member_id'], ['plan_id'], ['plan_id', 'member_id'], ['revoked_at']] },
)

export const invites = table(
  'invites',
  {
    recipient_email: text(),
    /**
     * The member whom the caller named, or whose address was invited and who has left or changed it since. Null where the invite
     * is to the address that the caller supplied.
     */
    recipient_id: nullable(id()),
    email_key: text(),
    recipient_first_name: defaultsTo(text(), ''),
    recipient_last_name: defaultsTo(text(), ''),
    sender_id: id(),
    /** The plan that it opens; null for an invite to the network. */
    plan_id: nullable(reference('plans', 'cascade')),
    message: nullable(text()),
    sent_at: timestamp(),
    accepted_at: nullable(timestamp()),
    /**
     * Address and plan while the invite is open; null afterwards, and once the recipient has left. Unique, so that no one is
     * invited twice concurrently.
     */
    open_key: nullable(text()),
  },
  { unique: [['open_key']], indexes: [['plan_id'], ['plan_id', 'email_key'], ['email_key'], ['recipient_id']] },
)

export type PlanRow = RowIn<typeof plans>
export type SubscriptionRow = RowIn<typeof subscriptions>
export type PurchaseRow = RowIn<typeof purchases>
export type InviteRow = RowIn<typeof invites>
export type PlanMembershipRow = RowIn<typeof planMemberships>
