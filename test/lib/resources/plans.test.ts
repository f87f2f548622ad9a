import { expect, test } from 'vitest'
import { createTestCommunity, nobody } from '../../support/community.ts'
import { createMembers } from '../../support/members.ts'

const types = (events: readonly { event_type: string }[]) => events.map(({ event_type }) => event_type)

async function setUp(pricing_type: 'free' | 'subscription' | 'one_time' = 'subscription') {
  const t = await createTestCommunity()
  const [grace, alan] = await createMembers(t, 'Grace', 'Alan')
  const plan = await t.community.notify.plan({ network: '1', name: 'Patron', pricing_type, amount: 500 })
  const params = { plan_id: plan.id, id: grace.id }
  return { ...t, ...t.community, grace, alan, plan, params }
}

test('a plan shows every documented field', async () => {
  const { send, plan, clock } = await setUp()
  const now = new Date(clock.now()).toISOString()
  expect((await send('plans.show', { params: { id: plan.id } })).body).toEqual({
    id: plan.id,
    created_at: now,
    updated_at: now,
    name: 'Patron',
    description: null,
    status: 'visible',
    pricing_type: 'subscription',
    visible_to_members: true,
    external: false,
    multiple: false,
    permalink: `https://demo.example/plans/${plan.id}`,
  })
})

test('a plan that is not there, or is of another network, is a 404', async () => {
  const { send, networks, notify } = await setUp()
  const { network } = await networks.create({
    subdomain: 'other',
    title: 'Other',
    owner: { email: 'olga@example.org', first_name: 'Olga', last_name: 'Other' },
  })
  const foreign = await notify.plan({ network: network.id, name: 'Elsewhere' })
  for (const id of [nobody, foreign.id]) {
    for (const operation of ['plans.show', 'plans.archive'])
      expect((await send(operation, { params: { id } })).body).toEqual({ error: 'Plan not found' })
    expect((await send('plans.remove_member', { params: { plan_id: id, id: '1' } })).body).toEqual({ error: 'Plan not found' })
  }
})

test("a member's plans are those that they can use, in the order of their ids", async () => {
  const { send, notify, grace, plan } = await setUp('free')
  const second = await notify.plan({ network: '1', name: 'Second' })
  await notify.plan({ network: '1', name: 'Unused' })
  for (const { id } of [second, plan])
    await send('plan_members.create', { params: { plan_id: id }, query: { user_id: grace.id } })
  const listed = await send('member_plans.list', { params: { member_id: grace.id }, query: { per_page: 1 } })
  expect(listed.body.items).toEqual([plan])
  const next = new URL(listed.body.links.next).searchParams
  const second_page = await send('member_plans.list', { params: { member_id: grace.id }, query: Object.fromEntries(next) })
  expect(second_page.body.items).toEqual([second])
  expect(second_page.body.links.next).toBe(null)
  const missing = await send('member_plans.list', { params: { member_id: nobody } })
  expect([missing.status, missing.body]).toEqual([404, { error: 'Member not found' }])
})

test('archiving a plan cancels its subscriptions, ends access and emits both for each member', async () => {
  const { send, notify, newEvents, grace, alan, plan } = await setUp()
  const subscription = await notify.subscription({ network: '1', plan_id: plan.id, member_id: grace.id })
  await notify.subscription({ network: '1', plan_id: plan.id, member_id: alan.id })
  newEvents()
  expect((await send('plans.archive', { params: { id: plan.id } })).status).toBe(204)
  const events = newEvents()
  expect(types(events)).toEqual([
    'MemberSubscriptionCanceledHook',
    'MemberRemovedFromPlanHook',
    'MemberSubscriptionCanceledHook',
    'MemberRemovedFromPlanHook',
  ])
  expect(events.map(({ payload }) => payload.member_id)).toEqual([grace.id, grace.id, alan.id, alan.id])
  expect(events[0]?.payload.subscription.id).toBe(subscription.subscription.id)
  expect(events[1]?.payload).toEqual(events[0]?.payload)
  expect((await send('plan_members.list', { params: { plan_id: plan.id } })).body.items).toEqual([])
  expect((await send('subscriptions.list')).body.items).toEqual([])
  expect((await send('subscriptions.list', { query: { status: 'canceled' } })).body.items).toHaveLength(2)
  expect((await send('member_plans.list', { params: { member_id: grace.id } })).body.items).toEqual([])
})

test('an archived plan is still shown and listed, by its status, and takes no more members', async () => {
  const { send, notify, grace, plan } = await setUp('free')
  await send('plans.archive', { params: { id: plan.id } })
  expect((await send('plans.list')).body.items).toMatchObject([{ id: plan.id, status: 'archived' }])
  expect((await send('plans.show', { params: { id: plan.id } })).body.status).toBe('archived')
  const error = { error: 'The plan is archived and takes no more members' }
  const given = await send('plan_members.create', { params: { plan_id: plan.id }, query: { user_id: grace.id } })
  expect([given.status, given.body]).toEqual([422, error])
  const invited = await send('plan_invites.create', { params: { plan_id: plan.id }, query: { user_id: grace.id } })
  expect([invited.status, invited.body]).toEqual([422, error])
  await expect(notify.purchase({ network: '1', plan_id: plan.id, member_id: grace.id })).rejects.toThrow(error.error)
  const again = await send('plans.archive', { params: { id: plan.id } })
  expect([again.status, again.body]).toEqual([422, { error: 'The plan is archived already' }])
})

test('archiving cancels the subscription of someone who has left, too', async () => {
  const { send, notify, newEvents, grace, plan } = await setUp()
  await notify.subscription({ network: '1', plan_id: plan.id, member_id: grace.id })
  await send('members.remove_from_network', { params: { id: grace.id } })
  newEvents()
  await send('plans.archive', { params: { id: plan.id } })
  expect(types(newEvents())).toEqual(['MemberSubscriptionCanceledHook'])
  expect((await send('subscriptions.list')).body.items).toEqual([])
})

test('a plan with live Apple payments cannot be archived, and nothing changes', async () => {
  const { send, notify, newEvents, grace, plan } = await setUp()
  const bought = { network: '1', plan_id: plan.id, member_id: grace.id, payment_platform: 'apple' } as const
  const { subscription } = await notify.subscription(bought)
  newEvents()
  const refused = await send('plans.archive', { params: { id: plan.id } })
  expect([refused.status, refused.body]).toEqual([
    422,
    { error: 'The plan has live Apple in-app payments. It can be archived once they have ended' },
  ])
  expect(newEvents()).toEqual([])
  expect((await send('plans.show', { params: { id: plan.id } })).body.status).toBe('visible')
  await send('subscriptions.cancel', { params: { id: subscription.id }, query: { when: 'now' } })
  expect((await send('plans.archive', { params: { id: plan.id } })).status).toBe(204)
})

test('taking a member off a plan cancels the subscription and ends access', async () => {
  const { send, notify, newEvents, grace, plan, params } = await setUp()
  const { subscription } = await notify.subscription({ network: '1', plan_id: plan.id, member_id: grace.id })
  newEvents()
  expect((await send('plans.remove_member', { params })).status).toBe(204)
  const shown = await send('subscriptions.show', { params: { id: subscription.id } })
  expect(shown.body.subscription.canceled_at).toBe('2026-11-20T10:00:00.000Z')
  expect(newEvents()).toMatchObject([{ event_type: 'MemberRemovedFromPlanHook', payload: shown.body }])
  expect((await send('plan_members.list', { params: { plan_id: plan.id } })).body.items).toEqual([])
})

test('taking a member off a plan revokes the purchase; the event has the form of a subscription', async () => {
  const { send, notify, newEvents, grace, plan, params } = await setUp('one_time')
  const { purchase } = await notify.purchase({
    network: '1',
    plan_id: plan.id,
    member_id: grace.id,
    payment_platform: 'stripe',
  })
  newEvents()
  expect((await send('plans.remove_member', { params })).status).toBe(204)
  expect((await send('purchases.list')).body.items).toEqual([])
  expect(newEvents()).toMatchObject([
    {
      event_type: 'MemberRemovedFromPlanHook',
      payload: {
        member_id: grace.id,
        plan: { id: plan.id, name: 'Patron', amount: 500, interval: 'one_time', type: 'one-time-payment' },
        subscription: {
          id: purchase.id,
          payment_platform: 'stripe',
          canceled_at: '2026-11-20T10:00:00.000Z',
          purchased_at: purchase.purchased_at,
        },
      },
    },
  ])
})

test('a purchase in the App Store keeps its buyer in the plan', async () => {
  const { send, notify, newEvents, grace, plan, params } = await setUp('one_time')
  await notify.purchase({ network: '1', plan_id: plan.id, member_id: grace.id, payment_platform: 'apple' })
  newEvents()
  const refused = await send('plans.remove_member', { params })
  expect([refused.status, refused.body]).toEqual([
    422,
    { error: 'The member bought this plan in the Apple App Store; it can be given back only there' },
  ])
  expect(newEvents()).toEqual([])
})

test('a member without access cannot be taken off a plan, nor can someone who does not exist', async () => {
  const { send, params } = await setUp()
  const refused = await send('plans.remove_member', { params })
  expect([refused.status, refused.body]).toEqual([422, { error: 'The member has no access to this plan' }])
  const missing = await send('plans.remove_member', { params: { ...params, id: nobody } })
  expect([missing.status, missing.body]).toEqual([404, { error: 'Member not found' }])
})
