/** Plans with their members and invites, payments, and reports of abuse. */
import { emailKey } from '../../../../../lib/rules/members.ts'
import { openKey } from '../../../../../lib/rules/open-invites.ts'
import { liveStates } from '../../../../../lib/rules/plans.ts'
import type { ScopedTx } from '../../../../../lib/storage/scoped.ts'
import { abuseReports } from '../../../../../lib/storage/tables/content.ts'
import { members } from '../../../../../lib/storage/tables/members.ts'
import { invites, planMemberships, plans, purchases, subscriptions } from '../../../../../lib/storage/tables/plans.ts'
import { type ApiRecord, shownAddress, textOf, within } from '../../api-record.ts'
import { derivedId } from '../ids.ts'
import { type Place, type Stage, stage, under } from '../stage.ts'
import { ensureMember, ensurePayer } from './former.ts'

const allPlans = stage({ name: 'plans', group: 'plans', list: 'plans.list', table: plans, shown: () => ({}) })

/** The plan as it was bought. */
function boughtPlan(record: ApiRecord, { ids }: Place): ApiRecord {
  const { id, name, amount, currency, interval, type, has_free_trial } = within(record, 'plan')
  return {
    id: id === null || id === undefined ? null : ids.here(id),
    name: name ?? null,
    amount: Number(amount ?? 0),
    currency: textOf(currency),
    interval: textOf(interval),
    type: textOf(type),
    has_free_trial: has_free_trial === true,
  }
}

const payment = (part: 'subscription' | 'purchase') => ({
  id: (record: ApiRecord) => within(record, part)['id'],
  plan_id: (record: ApiRecord) => within(record, 'plan')['id'] ?? null,
  plan: boughtPlan,
})

const subscriptionsThat = (are: 'live' | 'ended'): Stage =>
  stage({
    name: are === 'live' ? 'subscriptions' : 'ended subscriptions',
    group: 'subscriptions',
    list: 'subscriptions.list',
    query: are === 'live' ? {} : { status: 'canceled' },
    table: subscriptions,
    shown: () => ({ status: are === 'live' ? liveStates : 'canceled' }) as const,
    takesFields: false,
    columns: {
      ...payment('subscription'),
      ...Object.fromEntries(
        (
          [
            ...(['current_period_start', 'current_period_end', 'payment_platform', 'canceled_at'] as const),
            ...(['trial_length', 'trial_start', 'trial_end', 'purchased_at'] as const),
          ] as const
        ).map((name) => [name, (record: ApiRecord) => within(record, 'subscription')[name]]),
      ),
      member_id: ({ member_id }) => member_id,
      status: (record) =>
        are === 'ended' ? 'canceled' : textOf(within(record, 'subscription')['canceled_at']) === '' ? 'active' : 'ending',
    },
    // The times of the record are those of its member.
    inserts: { created_at: (record) => within(record, 'subscription')['purchased_at'] },
    related: ensurePayer,
  })

const allPurchases = stage({
  name: 'purchases',
  group: 'purchases',
  list: 'purchases.list',
  table: purchases,
  shown: () => ({ revoked_at: null }),
  takesFields: false,
  columns: {
    ...payment('purchase'),
    member_id: ({ member_id }) => member_id,
    tax_percent: (record) => within(record, 'purchase')['tax_percent'],
    payment_platform: (record) => within(record, 'purchase')['payment_platform'],
    purchased_at: (record) => within(record, 'purchase')['purchased_at'],
    created_at: (record) => within(record, 'purchase')['created_at'],
    updated_at: (record) => within(record, 'purchase')['updated_at'],
    revoked_at: () => null,
  },
  related(tx, record, place) {
    const person = Object.entries(record).flatMap(([name, value]) => (name.startsWith('member_') ? [[name.slice(7), value]] : []))
    return ensureMember(tx, Object.fromEntries(person), place)
  },
  // A purchase leaves the list when it is revoked. By its id it is still shown.
  async gone(tx, { id, updated_at }) {
    return (await tx.update(purchases, id, { revoked_at: updated_at })) !== undefined
  },
})

const planMembers = stage({
  name: 'members of plans',
  group: 'plans',
  list: 'plan_members.list',
  parents: [under('plan_id', plans)],
  table: planMemberships,
  key: ['plan_id', 'member_id'],
  shown: ({ params: { plan_id = '' } }) => ({ plan_id }),
  takesFields: false,
  columns: { plan_id: (_, { params }) => params['plan_id'], member_id: ({ id }) => id },
  inserts: {
    id: ({ id }, { params, ids }) => derivedId('plan_memberships', params['plan_id'] ?? '', ids.here(id)),
    created_at: ({ created_at }) => created_at,
    source: () => 'direct',
  },
  related: (tx, { id }, { params, ids }) => noteSource(tx, params['plan_id'] ?? '', ids.here(id)),
})

/** The ground of an access is not shown. A live payment is one. */
async function noteSource(tx: ScopedTx, plan_id: string, member_id: string): Promise<void> {
  const key = { plan_id, member_id }
  const source = (await tx.first(subscriptions, { ...key, status: liveStates }))
    ? 'subscription'
    : (await tx.first(purchases, { ...key, revoked_at: null }))
      ? 'purchase'
      : 'direct'
  const row = await tx.first(planMemberships, key)
  if (row && row.source !== source) await tx.update(planMemberships, row.id, { source })
}

const invitesTo = (what: 'plan' | 'network'): Stage =>
  stage({
    name: what === 'plan' ? 'invites to plans' : 'invites',
    group: 'invites',
    list: what === 'plan' ? 'plan_invites.list' : 'invites.list',
    ...(what === 'plan' ? { parents: [under('plan_id', plans)] } : {}),
    table: invites,
    shown: ({ params: { plan_id = null } }) => ({ plan_id }),
    columns: {
      plan_id: (_, { params }) => params['plan_id'] ?? null,
      email_key: ({ recipient_email }) => emailKey(textOf(recipient_email)),
      sender_id: ({ sender_id, user_id }) => sender_id ?? user_id,
      // A hidden address is no key: two of them are not the same person. An accepted invite holds none.
      open_key: ({ recipient_email, accepted_at = null }, { params }) => {
        const address = shownAddress(recipient_email)
        return address === undefined || accepted_at !== null
          ? null
          : openKey({ recipient_email: address, plan_id: params['plan_id'] ?? null })
      },
    },
    inserts: { sent_at: ({ updated_at }) => updated_at },
    keeps: 'open_key',
  })

const allReports = stage({
  name: 'abuse reports',
  group: 'abuse_reports',
  list: 'abuse_reports.list',
  table: abuseReports,
  shown: () => ({}),
  accepts: async (tx, { member_id }, { ids }) => (await tx.get(members, ids.here(member_id))) !== undefined,
})

/** In the order of dependence. */
export const payments: readonly Stage[] = [
  allPlans,
  subscriptionsThat('ended'),
  subscriptionsThat('live'),
  allPurchases,
  planMembers,
  invitesTo('plan'),
  invitesTo('network'),
  allReports,
]
