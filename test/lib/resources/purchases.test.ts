import { expect, test } from 'vitest'
import { createTestCommunity, nobody } from '../../support/community.ts'
import { createMembers } from '../../support/members.ts'

async function setUp(payment_platform?: 'stripe' | 'apple') {
  const t = await createTestCommunity()
  const [grace, alan] = await createMembers(t, 'Grace', 'Alan')
  const { notify } = t.community
  const plan = await notify.plan({ network: '1', name: 'Workshop', pricing_type: 'one_time', amount: 2500 })
  const buy = (member_id: string, plan_id = plan.id) =>
    notify.purchase({ network: '1', member_id, plan_id, payment_platform, tax_percent: 19 })
  const purchase = await buy(grace.id)
  const revoke = (query: Record<string, string> = {}) =>
    t.send('purchases.revoke', { params: { id: purchase.purchase.id }, query })
  const listed = async (query: Record<string, string> = {}) => (await t.send('purchases.list', { query })).body.items
  t.newEvents()
  return { ...t, notify, grace, alan, plan, buy, purchase, revoke, listed }
}

test('a purchase shows the buyer, the plan as it was bought, and the payment', async () => {
  const { send, purchase, grace, plan } = await setUp('stripe')
  const now = '2026-11-20T10:00:00.000Z'
  const shown = await send('purchases.show', { params: { id: purchase.purchase.id } })
  expect([shown.status, shown.body]).toEqual([
    200,
    {
      member_id: grace.id,
      member_email: '',
      member_first_name: 'Grace',
      member_last_name: 'Example',
      member_time_zone: null,
      member_location: null,
      member_referral_count: 0,
      member_avatar: null,
      member_categories: [],
      member_permalink: grace.permalink,
      member_ambassador_level: null,
      plan: {
        id: plan.id,
        name: 'Workshop',
        amount: 2500,
        currency: 'usd',
        interval: 'one_time',
        type: 'one-time-payment',
        has_free_trial: false,
      },
      purchase: {
        id: purchase.purchase.id,
        tax_percent: 19,
        payment_platform: 'stripe',
        purchased_at: now,
        created_at: now,
        updated_at: now,
      },
    },
  ])
  expect(shown.body).toEqual(purchase)
})

test('the list can be filtered by one plan, one member, or both', async () => {
  const { notify, buy, listed, purchase, plan, grace, alan } = await setUp()
  const other = await notify.plan({ network: '1', name: 'Other', pricing_type: 'free' })
  const second = await buy(alan.id)
  const third = await buy(grace.id, other.id)
  expect(await listed()).toEqual([purchase, second, third])
  expect(await listed({ plan_id: plan.id })).toEqual([purchase, second])
  expect(await listed({ member_id: grace.id })).toEqual([purchase, third])
  expect(await listed({ member_id: grace.id, plan_id: other.id })).toEqual([third])
  expect(await listed({ plan_id: nobody })).toEqual([])
})

test.each([{}, { immediate: 'true' }, { immediate: 'false' }])(
  'revoked with %j: access ends, and the event shows it',
  async (query) => {
    const { send, revoke, listed, purchase, plan, grace, newEvents } = await setUp('stripe')
    const revoked = await revoke(query)
    expect([revoked.status, revoked.body]).toEqual([200, purchase])
    expect(newEvents()).toMatchObject([
      {
        event_type: 'MemberRemovedFromPlanHook',
        payload: {
          member_id: grace.id,
          plan: purchase.plan,
          subscription: { id: purchase.purchase.id, payment_platform: 'stripe', canceled_at: '2026-11-20T10:00:00.000Z' },
        },
      },
    ])
    expect((await send('plan_members.show', { params: { plan_id: plan.id, member_id: grace.id } })).status).toBe(404)
    expect(await listed()).toEqual([])
    expect((await send('purchases.show', { params: { id: purchase.purchase.id } })).body).toEqual(purchase)
  },
)

test('a purchase is revoked once: the second time it is not found', async () => {
  const { revoke, newEvents } = await setUp()
  await revoke()
  newEvents()
  const again = await revoke()
  expect([again.status, again.body]).toEqual([404, { error: 'Purchase not found' }])
  expect(newEvents()).toEqual([])
})

test('a purchase in the App Store cannot be revoked here', async () => {
  const { revoke, listed, newEvents } = await setUp('apple')
  const refused = await revoke()
  expect([refused.status, refused.body]).toEqual([
    422,
    { error: 'The purchase was made in the Apple App Store; it can be given back only there' },
  ])
  expect([await listed(), newEvents()]).toMatchObject([[{}], []])
})

test('a second purchase of the same plan keeps the plan open', async () => {
  const { send, revoke, buy, plan, grace, newEvents } = await setUp()
  await buy(grace.id)
  newEvents()
  await revoke()
  expect(newEvents()).toEqual([])
  expect((await send('plan_members.show', { params: { plan_id: plan.id, member_id: grace.id } })).status).toBe(200)
})

test('a purchase that is not there is a 404, and immediate has to be true or false', async () => {
  const { send, revoke } = await setUp()
  for (const operation of ['purchases.show', 'purchases.revoke']) {
    const missing = await send(operation, { params: { id: nobody } })
    expect([missing.status, missing.body]).toEqual([404, { error: 'Purchase not found' }])
  }
  const wrong = await revoke({ immediate: 'soon' })
  expect([wrong.status, wrong.body]).toEqual([422, { error: 'immediate must be true or false' }])
})
