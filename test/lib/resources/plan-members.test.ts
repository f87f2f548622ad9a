import { expect, test } from 'vitest'
import { createTestCommunity, nobody } from '../../support/community.ts'
import { createMembers, createSpaces } from '../../support/members.ts'

async function setUp(plan: { pricing_type?: 'free' | 'nonpaid' | 'subscription'; space_ids?: string[] } = {}) {
  const t = await createTestCommunity()
  const [grace] = await createMembers(t, 'Grace')
  const { id } = await t.community.notify.plan({ network: '1', name: 'Friends', ...plan })
  const give = (user_id: string) => t.send('plan_members.create', { params: { plan_id: id }, query: { user_id } })
  return { ...t, ...t.community, grace, plan_id: id, give }
}

test('direct access returns the plan and makes a member of it', async () => {
  const { send, give, grace, plan_id } = await setUp()
  const given = await give(grace.id)
  expect([given.status, given.body]).toEqual([200, (await send('plans.show', { params: { id: plan_id } })).body])
  const member = (await send('members.show', { params: { id: grace.id } })).body
  expect((await send('plan_members.list', { params: { plan_id } })).body.items).toEqual([member])
  expect((await send('plan_members.show', { params: { plan_id, member_id: grace.id } })).body).toEqual(member)
})

test('integrations are notified of direct access as of a purchase for which nothing was paid, once', async () => {
  const { give, grace, plan_id, newEvents, send } = await setUp({ pricing_type: 'nonpaid' })
  newEvents()
  await give(grace.id)
  await give(grace.id)
  const told = newEvents()
  expect(told.map(({ event_type }) => event_type)).toEqual(['MemberPurchasedHook'])
  const time = '2026-11-20T10:00:00.000Z'
  expect(told[0]?.payload).toMatchObject({
    member_id: grace.id,
    member_first_name: 'Grace',
    plan: {
      id: plan_id,
      name: 'Friends',
      amount: 0,
      currency: 'usd',
      interval: 'one_time',
      type: 'free',
      has_free_trial: false,
    },
    purchase: {
      id: expect.any(String),
      tax_percent: null,
      payment_platform: null,
      purchased_at: time,
      created_at: time,
      updated_at: time,
    },
  })
  expect(told[0]?.payload).not.toHaveProperty('member')
  expect((await send('purchases.list')).body.items).toEqual([])
})

test('user_id may be in a JSON body, as a number too', async () => {
  const { send, grace, plan_id } = await setUp({ pricing_type: 'nonpaid' })
  const given = await send('plan_members.create', { params: { plan_id }, body: { user_id: Number(grace.id) } })
  expect(given.status).toBe(200)
})

test('a plan that opens spaces makes the member join each that they are not in', async () => {
  const { send, community, newEvents, ...t } = await createTestCommunity()
  const [grace] = await createMembers({ send, newEvents }, 'Grace')
  const [garden, kitchen, attic] = await createSpaces({ send }, 'Garden', 'Kitchen', 'Attic')
  await send('space_members.create', { params: { space_id: kitchen.id }, query: { user_id: grace.id } })
  const space_ids = [attic.id, kitchen.id, garden.id]
  const plan = await community.notify.plan({ network: '1', name: 'House', space_ids })
  expect(plan.multiple).toBe(true)
  newEvents()
  await send('plan_members.create', { params: { plan_id: plan.id }, query: { user_id: grace.id } })
  const joined = newEvents()
  expect(joined.map(({ event_type, payload }) => [event_type, payload.space_id, payload.network_id])).toEqual([
    ['MemberJoinedHook', garden.id, t.network.id],
    ['MemberJoinedHook', attic.id, t.network.id],
    ['MemberPurchasedHook', undefined, undefined],
  ])
  expect(joined[0]?.payload.member).toEqual((await send('members.show', { params: { id: grace.id } })).body)
  const spaces = (await send('member_spaces.list', { params: { member_id: grace.id } })).body.items
  expect(spaces.map((space: { name: string }) => space.name)).toEqual(['Garden', 'Kitchen', 'Attic'])
})

test('adding a member who has access already says so', async () => {
  const { give, grace, newEvents } = await setUp()
  await give(grace.id)
  newEvents()
  const again = await give(grace.id)
  expect([again.status, again.body]).toEqual([422, { error: 'User already has access to this plan (already assigned)' }])
  expect(newEvents()).toEqual([])
})

test('a plan that costs something is not given away', async () => {
  const { send, give, grace, plan_id } = await setUp({ pricing_type: 'subscription' })
  const refused = await give(grace.id)
  expect([refused.status, refused.body]).toEqual([
    422,
    { error: 'Direct access is for free and nonpaid plans; the pricing_type of this plan is subscription' },
  ])
  expect((await send('plan_members.list', { params: { plan_id } })).body.items).toEqual([])
})

test('user_id is required and has to be an id', async () => {
  const { send, plan_id } = await setUp()
  const without = await send('plan_members.create', { params: { plan_id } })
  expect([without.status, without.body]).toEqual([422, { error: 'user_id is required' }])
  const wrong = await send('plan_members.create', { params: { plan_id }, query: { user_id: 'grace' } })
  expect([wrong.status, wrong.body]).toEqual([422, { error: 'user_id must be an id' }])
})

test('an unknown plan comes before an unknown member; a member who left counts as unknown', async () => {
  const { send, give, grace } = await setUp()
  const noPlan = await send('plan_members.create', { params: { plan_id: nobody }, query: { user_id: nobody } })
  expect([noPlan.status, noPlan.body]).toEqual([404, { error: 'Plan not found' }])
  expect((await give(nobody)).body).toEqual({ error: 'Member not found' })
  await send('members.remove_from_network', { params: { id: grace.id } })
  const left = await give(grace.id)
  expect([left.status, left.body]).toEqual([404, { error: 'Member not found' }])
})

test('a member without access is not found among the members of the plan', async () => {
  const { send, grace, plan_id } = await setUp()
  const shown = await send('plan_members.show', { params: { plan_id, member_id: grace.id } })
  expect([shown.status, shown.body]).toEqual([404, { error: 'Member not found' }])
  const noPlan = await send('plan_members.show', { params: { plan_id: nobody, member_id: grace.id } })
  expect(noPlan.body).toEqual({ error: 'Plan not found' })
})

test('removing a member removes them from plans', async () => {
  const { send, give, grace, plan_id } = await setUp()
  await give(grace.id)
  await send('members.delete', { params: { id: grace.id } })
  expect((await send('plan_members.list', { params: { plan_id } })).body.items).toEqual([])
})
