import { expect, test } from 'vitest'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { subscriptions } from '../../../lib/storage/tables/plans.ts'
import { createTestCommunity, nobody } from '../../support/community.ts'
import { createMembers } from '../../support/members.ts'
import { wrappedStorage } from '../../support/storage.ts'

const day = 24 * 60 * 60 * 1000
const periodEnd = '2026-12-01T00:00:00.000Z'

async function setUp() {
  const t = await createTestCommunity()
  const [grace, alan] = await createMembers(t, 'Grace', 'Alan')
  const { notify } = t.community
  await notify.memberProfile({ network: '1', member_id: grace.id, commercial_email_consent: true, location: 'New York' })
  const plan = await notify.plan({ network: '1', name: 'Patron', pricing_type: 'subscription', amount: 500, currency: 'eur' })
  const subscribe = (member_id: string, more: object = {}) =>
    notify.subscription({ network: '1', member_id, plan_id: plan.id, current_period_end: periodEnd, ...more })
  const subscription = await subscribe(grace.id, { payment_platform: 'stripe' })
  const cancel = (query: Record<string, string> = {}, { id } = subscription.subscription) =>
    t.send('subscriptions.cancel', { params: { id }, query })
  const listed = async (query: Record<string, string> = {}) => (await t.send('subscriptions.list', { query })).body.items
  const planMembers = async () => (await t.send('plan_members.list', { params: { plan_id: plan.id } })).body.items
  t.newEvents()
  return { ...t, notify, grace, alan, plan, subscribe, subscription, cancel, listed, planMembers }
}

test('a subscription shows the subscriber, the plan as it was bought, and the payment', async () => {
  const { send, subscription, grace, plan } = await setUp()
  const { first_name, last_name, permalink, created_at, updated_at } = grace
  const shown = await send('subscriptions.show', { params: { id: subscription.subscription.id } })
  expect([shown.status, shown.body]).toEqual([
    200,
    {
      member_id: grace.id,
      created_at,
      updated_at,
      email: 'grace@example.org',
      first_name,
      last_name,
      time_zone: null,
      location: 'New York',
      referral_count: 0,
      avatar: null,
      categories: [],
      permalink,
      ambassador_level: null,
      plan: {
        id: plan.id,
        name: 'Patron',
        amount: 500,
        currency: 'eur',
        interval: 'month',
        type: 'subscription',
        has_free_trial: false,
      },
      subscription: {
        id: subscription.subscription.id,
        current_period_start: null,
        current_period_end: periodEnd,
        payment_platform: 'stripe',
        canceled_at: null,
        trial_length: null,
        trial_start: null,
        trial_end: null,
        purchased_at: '2026-11-20T10:00:00.000Z',
      },
    },
  ])
  expect(shown.body).toEqual(subscription)
})

test('the list holds the live ones, or with status=canceled the ended ones, of one member if asked', async () => {
  const { subscribe, subscription, cancel, listed, alan, grace } = await setUp()
  const other = await subscribe(alan.id)
  await cancel({ when: 'now' })
  expect(await listed()).toEqual([other])
  expect(await listed({ status: 'anything else' })).toEqual([other])
  expect(await listed({ status: 'canceled' })).toMatchObject([{ subscription: { id: subscription.subscription.id } }])
  expect(await listed({ member_id: grace.id })).toEqual([])
  expect(await listed({ member_id: alan.id })).toEqual([other])
  expect(await listed({ member_id: nobody })).toEqual([])
})

test('canceled now: access ends immediately, and the event carries the record', async () => {
  const { cancel, subscription, planMembers, newEvents } = await setUp()
  const canceled = await cancel({ when: 'now' })
  const expected = structuredClone(subscription)
  expect([canceled.status, canceled.body]).toEqual([
    200,
    { ...expected, subscription: { ...expected.subscription, canceled_at: '2026-11-20T10:00:00.000Z' } },
  ])
  expect(newEvents()).toMatchObject([{ event_type: 'MemberSubscriptionCanceledHook', payload: canceled.body }])
  expect(await planMembers()).toEqual([])
})

test('canceled by default to the end of the billing cycle: it is live, and the plan open, until then', async () => {
  const { cancel, listed, planMembers, newEvents, notify, clock } = await setUp()
  const canceled = await cancel()
  expect(canceled.body.subscription).toMatchObject({ canceled_at: '2026-11-20T10:00:00.000Z', current_period_end: periodEnd })
  expect(newEvents()).toMatchObject([{ event_type: 'MemberSubscriptionCanceledHook', payload: canceled.body }])
  expect(await notify.subscriptionsEnded({ network: '1' })).toEqual([])
  expect([await listed(), await listed({ status: 'canceled' })]).toEqual([[canceled.body], []])
  expect(await planMembers()).toHaveLength(1)

  clock.advance(11 * day)
  expect(await notify.subscriptionsEnded({ network: '1' })).toEqual([canceled.body])
  expect([await listed(), await listed({ status: 'canceled' })]).toEqual([[], [canceled.body]])
  expect(await planMembers()).toEqual([])
  expect(await notify.subscriptionsEnded({ network: '1' })).toEqual([])
  expect(newEvents()).toEqual([])
})

test('a subscription whose period is over, or that has none, ends immediately either way', async () => {
  const { cancel, subscribe, alan, listed } = await setUp()
  for (const current_period_end of [undefined, '2026-11-20T10:00:00.000Z']) {
    const { subscription } = await subscribe(alan.id, { current_period_end })
    await cancel({ when: 'end_of_billing_cycle' }, subscription)
  }
  expect(await listed({ status: 'canceled', member_id: alan.id })).toHaveLength(2)
})

test('what is canceled already cannot be canceled again, now or later', async () => {
  const { cancel, newEvents } = await setUp()
  await cancel()
  newEvents()
  for (const when of ['now', 'end_of_billing_cycle']) {
    const again = await cancel({ when })
    expect([again.status, again.body]).toEqual([422, { error: 'The subscription is canceled already' }])
  }
  expect(newEvents()).toEqual([])
})

test('a moment that does not exist is a 400, before the subscription is looked for', async () => {
  const { send, cancel, planMembers } = await setUp()
  const wrong = await cancel({ when: 'tomorrow' })
  expect([wrong.status, wrong.body]).toEqual([400, { error: 'when must be now or end_of_billing_cycle, got "tomorrow"' }])
  expect(await planMembers()).toHaveLength(1)
  const missing = await send('subscriptions.cancel', { params: { id: nobody } })
  expect([missing.status, missing.body]).toEqual([404, { error: 'Subscription not found' }])
  expect((await send('subscriptions.show', { params: { id: nobody } })).body).toEqual({ error: 'Subscription not found' })
})

test('access that something else gives as well outlives the subscription', async () => {
  const { send, cancel, subscribe, planMembers, grace, notify } = await setUp()
  const second = await subscribe(grace.id)
  await cancel({ when: 'now' })
  expect(await planMembers()).toHaveLength(1)
  await cancel({ when: 'now' }, second.subscription)
  expect(await planMembers()).toEqual([])

  const free = await notify.plan({ network: '1', name: 'Friends' })
  await send('plan_members.create', { params: { plan_id: free.id }, query: { user_id: grace.id } })
  const third = await notify.subscription({ network: '1', member_id: grace.id, plan_id: free.id })
  await cancel({ when: 'now' }, third.subscription)
  expect((await send('plan_members.list', { params: { plan_id: free.id } })).body.items).toHaveLength(1)
})

test('many subscriptions end some hundreds at a time: a fault undoes its own part alone, and the next call continues', async () => {
  let left = 300
  const storage = wrappedStorage(memoryStorage(), {
    tx: (tx) => ({
      async update(table, ...rest) {
        if (table.name === subscriptions.name && 'status' in rest[1] && left-- === 0) throw new Error('pulled the plug')
        return tx.update(table, ...rest)
      },
    }),
  })
  const t = await createTestCommunity({ storage })
  const [grace] = await createMembers(t, 'Grace')
  const { notify } = t.community
  const plan = await notify.plan({ network: '1', name: 'Patron', pricing_type: 'subscription', amount: 500, currency: 'eur' })
  await notify.subscription({ network: '1', member_id: grace.id, plan_id: plan.id })
  const ids = Array.from({ length: 450 }, (_, index) => String(1_000 + index))
  await storage.transaction(async (tx) => {
    const [row] = await tx.find(subscriptions, {})
    if (!row) throw new Error('there is no subscription')
    for (const id of ids) await tx.insert(subscriptions, { ...row, id, status: 'ending', current_period_end: row.created_at })
  })
  const withStatus = async (status: 'ending' | 'canceled') =>
    (await storage.transaction((tx) => tx.find(subscriptions, { where: { status } }))).map(({ id }) => id)

  await expect(notify.subscriptionsEnded({ network: '1' })).rejects.toThrow('pulled the plug')
  expect([await withStatus('canceled'), await withStatus('ending')]).toEqual([ids.slice(0, 200), ids.slice(200)])
  const ended = await notify.subscriptionsEnded({ network: '1' })
  expect(ended.map(({ subscription }) => subscription.id)).toEqual(ids.slice(200))
  expect(await withStatus('ending')).toEqual([])
})
