/**
 * The data model on one page. Adapters make their tables from it, and resource files meet here instead of importing each other.
 * Names are those of the wire.
 */
import { attributeDefaults, attributes } from '../outbox/endpoint.ts'
import type { AuditAction, AuditSubjectType } from './audit-actions.ts'
import { columnsOf } from './columns-of.ts'
import { boolean, defaultsTo, id, integer, json, nullable, type RowIn, real, reference, table, text, timestamp } from './table.ts'

type MemberRole = 'host' | 'moderator' | 'contributor'
/** The kinds of answer that a host can ask for. */
export const askable = [
  'dropdown_single_select',
  'dropdown_multi_select',
  'text_short',
  'text_long',
  'number',
  'boolean',
  'date',
  'location',
  'multi_location',
  'date_range',
  'recurring_date',
  'url',
  'phone_number',
] as const

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

// ---- The network and who may speak for it ----------------------------------------------------------------------------

/** A network's own row has its own id as `network_id`. */
export const networks = table(
  'networks',
  {
    subdomain: text(),
    title: text(),
    subtitle: defaultsTo(text(), ''),
    purpose: defaultsTo(text(), ''),
    description: defaultsTo(text(), ''),
    /** The plan that the network pays for: it sets the rate limit. */
    service_plan: defaultsTo(text<'standard' | 'premium' | 'unlimited'>(), 'standard'),
    /** Whether that plan shows members' e-mail addresses (specification, section 2, e-mail rule 3). */
    member_email_visibility: defaultsTo(boolean(), false),
  },
  { unique: [['subdomain']], global: true },
)

export const apiKeys = table(
  'api_keys',
  {
    name: text(),
    /** SHA-256 of the token, in hex. The token itself is stored nowhere. */
    token_hash: text(),
    /** The token's first and last characters, for lists. */
    redacted: text(),
    scopes: json<readonly string[]>(),
    /** The member who acts when the key is used. */
    member_id: id(),
    expires_at: nullable(timestamp()),
    revoked_at: nullable(timestamp()),
    /** Kept to the minute. */
    last_used_at: nullable(timestamp()),
  },
  { unique: [['token_hash']], indexes: [['network_id']], global: true },
)

/** Its columns are the attributes of `lib/outbox/endpoint.ts`, in that order. */
export const webhookEndpoints = table('webhook_endpoints', columnsOf(attributes, attributeDefaults))

/** Changes of keys, endpoints and networks, and work for the relay that people asked for. Its time is `created_at`. */
export const audit = table(
  'audit',
  {
    /** A name that the host gives; `host` by default, `cli:USER` for commands. */
    actor: text(),
    /** The network address of the actor's client. */
    address: nullable(text()),
    action: text<AuditAction>(),
    subject_type: text<AuditSubjectType>(),
    /** Not only of records: a delivery has an id of the relay. */
    subject_id: text(),
    /** Its name at that time. */
    subject_name: nullable(text()),
    /** Changed fields and their values, without secrets. */
    details: json<Readonly<Record<string, unknown>>>(),
  },
  { indexes: [['actor'], ['action'], ['actor', 'action'], ['subject_type', 'subject_id']], appendOnly: true },
)

/** The first answers to requests with an `Idempotency-Key`. */
export const idempotencyKeys = table(
  'idempotency_keys',
  {
    /** The API key that sent it, or the host's name for its own. */
    caller: text(),
    key: text(),
    /** Operation, path and body, hashed: what the key was first used for. */
    fingerprint: text(),
    status: integer(),
    body: text(),
  },
  { unique: [['caller', 'key']] },
)

// ---- Members and where they belong -----------------------------------------------------------------------------------

/** A member is never taken out of the table: content keeps its author. `state` shows whether they are still there. */
export const members = table(
  'members',
  {
    email: text(),
    /** The address in lower case; null once the account is deleted, so that the address is free again. */
    email_key: nullable(text()),
    first_name: text(),
    last_name: text(),
    role: defaultsTo(text<MemberRole>(), 'contributor'),
    member_type: defaultsTo(text<'full' | 'limited'>(), 'full'),
    /** A `removed` member may join again. */
    state: defaultsTo(text<'active' | 'removed' | 'banned' | 'deleted'>(), 'active'),
    commercial_email_consent: defaultsTo(boolean(), false),
    time_zone: nullable(text()),
    location: nullable(text()),
    bio: nullable(text()),
    avatar: nullable(text()),
    referral_count: defaultsTo(integer(), 0),
    /** The option chosen in the primary custom field, as `{ id, title }`; kept here so that lists need no second look. */
    categories: defaultsTo(json<readonly { id: string; title: string }[]>(), []),
    ambassador_level: nullable(text()),
    last_visited_at: nullable(timestamp()),
    ban_reason: nullable(text()),
  },
  { unique: [['email_key']], indexes: [['state'], ['state', 'role']] },
)

export const collections = table(
  'collections',
  {
    name: text(),
    /** The name in lower case: no two collections share it. */
    name_key: text(),
    description: nullable(text()),
    visible_to_members: defaultsTo(boolean(), true),
    position: integer(),
    explorable: defaultsTo(boolean(), false),
  },
  { unique: [['name_key']], indexes: [['position']] },
)

export const spaces = table(
  'spaces',
  {
    name: text(),
    collection_id: nullable(reference('collections', 'restrict')),
    /** Position in its collection, from 1. */
    position: nullable(integer()),
  },
  { indexes: [['collection_id', 'position']] },
)

export const spaceMemberships = table(
  'space_memberships',
  {
    space_id: reference('spaces', 'cascade'),
    member_id: reference('members', 'cascade'),
    role: nullable(text<MemberRole>()),
  },
  {
    unique: [['space_id', 'member_id']],
    indexes: [
      ['space_id', 'member_id'],
      ['member_id', 'space_id'],
    ],
  },
)

// ---- Custom fields, their segments (tags, badges, options) and answers --------------------------------------------------

export const customFields = table(
  'custom_fields',
  {
    title: text(),
    description: nullable(text()),
    placeholder: nullable(text()),
    /** `tag` and `badge` are the network's own two fields; hosts make the other kinds. */
    response_type: text<'tag' | 'badge' | (typeof askable)[number]>(),
    privacy: defaultsTo(text<'public' | 'private' | 'admin'>(), 'public'),
    response_by: defaultsTo(text<'hosts_only' | 'individual_member'>(), 'individual_member'),
    allow_ad_hoc: defaultsTo(boolean(), false),
    max_responses: nullable(integer()),
    min_value: nullable(integer()),
    max_value: nullable(integer()),
    location_granularity: nullable(text<'address' | 'city' | 'state' | 'country'>()),
    status: defaultsTo(text<'visible' | 'hidden' | 'billing_disabled'>(), 'visible'),
    primary: defaultsTo(boolean(), false),
  },
  { indexes: [['response_type'], ['primary']] },
)

/** A value of a custom field that is assigned to members: a tag, a badge, or a dropdown's option. */
export const segments = table(
  'segments',
  {
    kind: text<'tag' | 'badge' | 'option'>(),
    custom_field_id: reference('custom_fields', 'cascade'),
    title: text(),
    description: nullable(text()),
    color: nullable(text()),
    avatar_id: nullable(id()),
    avatar_url: nullable(text()),
    member_count: defaultsTo(integer(), 0),
    /** Made by a member's answer and not by a host. */
    is_ad_hoc: defaultsTo(boolean(), false),
    creator_id: id(),
  },
  { indexes: [['kind'], ['custom_field_id']] },
)

export const memberSegments = table(
  'member_segments',
  {
    member_id: reference('members', 'cascade'),
    segment_id: reference('segments', 'cascade'),
    custom_field_id: id(),
    kind: text<'tag' | 'badge' | 'option'>(),
  },
  {
    unique: [['member_id', 'segment_id']],
    indexes: [
      ['member_id', 'kind', 'segment_id'],
      ['segment_id', 'member_id'],
      ['member_id', 'custom_field_id', 'segment_id'],
      ['custom_field_id', 'member_id'],
    ],
  },
)

export const answers = table(
  'answers',
  {
    custom_field_id: reference('custom_fields', 'cascade'),
    member_id: reference('members', 'cascade'),
    text: nullable(text()),
    number: nullable(real()),
    boolean_value: nullable(boolean()),
    date: nullable(text()),
    start_date: nullable(text()),
    end_date: nullable(text()),
    month: nullable(integer()),
    day: nullable(integer()),
    url: nullable(text()),
    phone_number: nullable(text()),
    latitude: nullable(real()),
    longitude: nullable(real()),
    locations: nullable(json<readonly { label: string; latitude: number; longitude: number }[]>()),
    last_edited_at: timestamp(),
  },
  { unique: [['custom_field_id', 'member_id']] },
)

// ---- Content ---------------------------------------------------------------------------------------------------------

/** Posts, articles, polls, questions and events: everything that appears in a feed. */
export const posts = table(
  'posts',
  {
    /** The resource group that it belongs to. */
    family: text<'post' | 'poll' | 'event'>(),
    post_type: text(),
    space_id: reference('spaces', 'restrict'),
    creator_id: id(),
    title: text(),
    description: nullable(text()),
    summary: defaultsTo(text(), ''),
    images: defaultsTo(json<readonly string[]>(), []),
    status: defaultsTo(text<'draft' | 'posted' | 'scheduled'>(), 'posted'),
    content_type: text(),
    comments_enabled: defaultsTo(boolean(), true),
    published_at: timestamp(),
    last_activity_at: timestamp(),
    poll_type: nullable(text<'multiple_choice_poll' | 'hot_cold_poll' | 'percentage_poll'>()),
    choices: nullable(json<readonly { id: string; text: string }[]>()),
  },
  { indexes: [['space_id'], ['family'], ['family', 'space_id']] },
)

export const comments = table(
  'comments',
  {
    post_id: reference('posts', 'cascade'),
    space_id: id(),
    author_id: id(),
    text: text(),
    reply_to_id: nullable(reference('comments', 'cascade')),
    depth: integer(),
    cheer_count: defaultsTo(integer(), 0),
    reply_count: defaultsTo(integer(), 0),
  },
  { indexes: [['post_id'], ['author_id']] },
)

/** One per member and target; of `post_id` and `comment_id` one is set. */
export const reactions = table(
  'reactions',
  {
    post_id: nullable(reference('posts', 'cascade')),
    comment_id: nullable(reference('comments', 'cascade')),
    space_id: id(),
    member_id: reference('members', 'cascade'),
    emoji: text(),
    base_emoji: text(),
  },
  {
    unique: [
      ['post_id', 'member_id'],
      ['comment_id', 'member_id'],
    ],
    indexes: [['post_id'], ['comment_id']],
  },
)

export const mutes = table(
  'mutes',
  { post_id: reference('posts', 'cascade'), member_id: reference('members', 'cascade') },
  { unique: [['post_id', 'member_id']] },
)

export const courseworks = table(
  'courseworks',
  {
    space_id: reference('spaces', 'cascade'),
    type: text<'lesson' | 'quiz' | 'section' | 'overview'>(),
    parent_id: nullable(reference('courseworks', 'cascade')),
    title: text(),
    description: nullable(text()),
    status: text<'posted' | 'hidden' | 'pending'>(),
    /** Position among its siblings, from 1. */
    position: integer(),
    completion_criteria: text<'none' | 'visited' | 'button' | 'video' | 'minimum_correct_percentage'>(),
    unlocking_criteria: text<'none' | 'sequential' | 'time_from_course_join' | 'scheduled_date'>(),
    children_count: defaultsTo(integer(), 0),
  },
  { indexes: [['space_id'], ['parent_id', 'position']] },
)

/** The columns of an event beyond its post, under the same id. */
export const events = table('events', {
  post_id: reference('posts', 'cascade'),
  event_type: text<'local' | 'live_chat' | 'online_meeting' | 'zoom_meeting' | 'zoom_webinar' | 'webinar' | 'local_meetup'>(),
  starts_at: timestamp(),
  ends_at: timestamp(),
  time_zone: text(),
  location: nullable(text()),
  link: nullable(text()),
  rsvp_enabled: defaultsTo(boolean(), true),
  rsvp_closed: defaultsTo(boolean(), false),
  restricted_event: defaultsTo(boolean(), false),
  post_in_feed: defaultsTo(boolean(), true),
  frequency: nullable(text<'daily' | 'weekly' | 'monthly' | 'yearly'>()),
  interval: nullable(integer()),
  by_days: nullable(text()),
  by_month_days: nullable(text()),
  recurrence_count: nullable(integer()),
  recur_until: nullable(timestamp()),
  recurrence_rule: nullable(text()),
})

export const rsvps = table(
  'rsvps',
  {
    event_id: reference('events', 'cascade'),
    member_id: reference('members', 'cascade'),
    status: text<'yes' | 'maybe' | 'no'>(),
    /** The occurrence of a recurring event; empty for an event that happens once. */
    instance_at: defaultsTo(text(), ''),
  },
  { unique: [['event_id', 'member_id', 'instance_at']], indexes: [['event_id'], ['event_id', 'instance_at']] },
)

/** Occurrences of recurring events that the host has called off. */
export const canceledInstances = table(
  'canceled_instances',
  { event_id: reference('events', 'cascade'), instance_at: text() },
  { unique: [['event_id', 'instance_at']] },
)

export const assets = table('assets', {
  url: nullable(text()),
  type: text(),
  name: nullable(text()),
  asset_style: text(),
  content_type: text(),
  byte_size: integer(),
  original_aspect_ratio: nullable(text()),
  metadata: nullable(json<Readonly<Record<string, unknown>>>()),
})

// ---- Plans and payments ----------------------------------------------------------------------------------------------

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
  readonly id: string | null
  readonly name: string | null
  readonly amount: number
  readonly currency: string
  readonly interval: string
  readonly type: 'free' | 'subscription' | 'one-time-payment'
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
    /** The member from whom the address was taken; null where the caller supplied it. */
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
    /** Address and plan while nobody has accepted; null afterwards. Unique, so that nobody is invited twice at once. */
    open_key: nullable(text()),
  },
  { unique: [['open_key']], indexes: [['plan_id'], ['plan_id', 'email_key']] },
)

export const abuseReports = table(
  'abuse_reports',
  {
    member_id: reference('members', 'cascade'),
    targetable_id: id(),
    targetable_type: text(),
    report_type: text<'spam' | 'offensive' | 'impersonation' | 'other'>(),
    reason: nullable(text()),
    context_id: nullable(id()),
    context_type: nullable(text<'Post' | 'Comment' | 'Space'>()),
    space_id: nullable(id()),
    ignored_at: nullable(timestamp()),
    ignored_by_id: nullable(id()),
  },
  {},
)

export const tables = [
  networks,
  apiKeys,
  webhookEndpoints,
  audit,
  idempotencyKeys,
  members,
  collections,
  spaces,
  spaceMemberships,
  customFields,
  segments,
  memberSegments,
  answers,
  posts,
  comments,
  reactions,
  mutes,
  courseworks,
  events,
  rsvps,
  canceledInstances,
  assets,
  plans,
  planSpaces,
  planMemberships,
  subscriptions,
  purchases,
  invites,
  abuseReports,
] as const

export type NetworkRow = RowIn<typeof networks>
export type ApiKeyRow = RowIn<typeof apiKeys>
export type EndpointRow = RowIn<typeof webhookEndpoints>
export type AuditRow = RowIn<typeof audit>
export type MemberRow = RowIn<typeof members>
export type SpaceRow = RowIn<typeof spaces>
export type CollectionRow = RowIn<typeof collections>
export type CustomFieldRow = RowIn<typeof customFields>
export type SegmentRow = RowIn<typeof segments>
export type AnswerRow = RowIn<typeof answers>
export type PostRow = RowIn<typeof posts>
export type CommentRow = RowIn<typeof comments>
export type ReactionRow = RowIn<typeof reactions>
export type CourseworkRow = RowIn<typeof courseworks>
export type EventRow = RowIn<typeof events>
export type RsvpRow = RowIn<typeof rsvps>
export type PlanRow = RowIn<typeof plans>
export type SubscriptionRow = RowIn<typeof subscriptions>
export type PurchaseRow = RowIn<typeof purchases>
export type InviteRow = RowIn<typeof invites>
export type PlanMembershipRow = RowIn<typeof planMemberships>
export type AbuseReportRow = RowIn<typeof abuseReports>
