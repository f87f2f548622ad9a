import { expect, test } from 'vitest'
import { createTestCommunity, nobody } from '../../support/community.ts'
import { ban, createMembers, createSpaces } from '../../support/members.ts'

const email = 'Katherine@example.org'

async function setUp() {
  const t = await createTestCommunity()
  const invite = async (): Promise<string> => (await t.send('invites.create', { body: { recipient_email: email } })).body.id
  const inviteToPlan = async (plan_id: string): Promise<string> =>
    (await t.send('plan_invites.create', { params: { plan_id }, query: { email } })).body.id
  const accept = (id: string, more: object = {}) =>
    t.community.acceptInvite({ network: 'demo', invite: id, first_name: 'Katherine', last_name: 'Johnson', ...more })
  return { ...t, ...t.community, invite, inviteToPlan, accept }
}

test('accepting an invite makes a member of the network, with the profile that they gave', async () => {
  const { send, network, invite, accept, newEvents, owner } = await setUp()
  const member = await accept(await invite(), { commercial_email_consent: true, location: 'White Sulphur Springs' })
  expect(member).toMatchObject({
    email,
    first_name: 'Katherine',
    last_name: 'Johnson',
    member_type: 'full',
    location: 'White Sulphur Springs',
  })
  expect((await send('members.by_email', { query: { email } })).body).toEqual(member)
  expect(newEvents()).toMatchObject([
    { event_type: 'MemberJoinedHook', payload: { member, space_id: network.id, network_id: network.id } },
  ])
  expect((await send('members.show', { params: { id: owner.id } })).body.referral_count).toBe(1)
})

test('the name may come from the invite, and has to come from somewhere', async () => {
  const { send, acceptInvite, invite } = await setUp()
  const { body } = await send('invites.create', {
    body: { recipient_email: 'dorothy@example.org', recipient_first_name: 'Dorothy' },
  })
  expect(await acceptInvite({ network: '1', invite: body.id })).toMatchObject({ first_name: 'Dorothy', last_name: '' })
  const nameless = await invite()
  await expect(acceptInvite({ network: '1', invite: nameless })).rejects.toMatchObject({
    status: 422,
    body: { error: "first_name can't be blank" },
  })
  expect(await acceptInvite({ network: '1', invite: nameless, first_name: 'Katherine' })).toMatchObject({
    first_name: 'Katherine',
  })
})

test('an invite to a plan opens the plan and its spaces', async () => {
  const { send, notify, network, inviteToPlan, accept, newEvents } = await setUp()
  const [garden, kitchen] = await createSpaces({ send }, 'Garden', 'Kitchen')
  const plan = await notify.plan({ network: '1', name: 'House', space_ids: [garden.id, kitchen.id] })
  const member = await accept(await inviteToPlan(plan.id))
  expect(newEvents().map(({ event_type, payload }) => [event_type, payload.space_id])).toEqual([
    ['MemberJoinedHook', network.id],
    ['MemberJoinedHook', garden.id],
    ['MemberJoinedHook', kitchen.id],
    ['MemberPurchasedHook', undefined],
  ])
  expect((await send('member_plans.list', { params: { member_id: member.id } })).body.items).toEqual([plan])
  expect((await send('member_spaces.list', { params: { member_id: member.id } })).body.items).toEqual([garden, kitchen])
})

test('a member who accepts an invite to a plan keeps their name and does not join the network again', async () => {
  const { send, notify, acceptInvite, newEvents, ...t } = await setUp()
  const [grace] = await createMembers({ send, newEvents }, 'Grace')
  const [garden] = await createSpaces({ send }, 'Garden')
  const plan = await notify.plan({ network: '1', name: 'House', space_ids: [garden.id] })
  const { body: invite } = await send('plan_invites.create', { params: { plan_id: plan.id }, query: { user_id: grace.id } })
  const member = await acceptInvite({ network: '1', invite: invite.id, first_name: 'Somebody' })
  expect(member).toMatchObject({ id: grace.id, first_name: 'Grace' })
  expect(newEvents()).toMatchObject([
    { event_type: 'MemberJoinedHook', payload: { space_id: garden.id } },
    { event_type: 'MemberPurchasedHook', payload: { member_id: grace.id, plan: { id: plan.id, type: 'free' } } },
  ])
  expect((await send('members.show', { params: { id: t.owner.id } })).body.referral_count).toBe(0)
})

test('an accepted invite keeps a plan open when the payment for it has ended', async () => {
  const { send, notify, acceptInvite, newEvents } = await setUp()
  const [grace] = await createMembers({ send, newEvents }, 'Grace')
  const { id: plan_id } = await notify.plan({ network: '1', name: 'House', pricing_type: 'one_time' })
  const { body: invite } = await send('plan_invites.create', { params: { plan_id }, query: { user_id: grace.id } })
  const { purchase } = await notify.purchase({ network: '1', member_id: grace.id, plan_id })
  newEvents()
  await acceptInvite({ network: '1', invite: invite.id })
  expect((await send('purchases.revoke', { params: { id: purchase.id } })).status).toBe(200)
  expect((await send('plan_members.show', { params: { plan_id, member_id: grace.id } })).status).toBe(200)
  expect(newEvents()).toEqual([])
})

test('a member who was taken out of the network is the same member again, with the plans that they kept paying for', async () => {
  const { send, notify, invite, accept, newEvents, network } = await setUp()
  const first = await accept(await invite())
  const plan = await notify.plan({ network: '1', name: 'Patron', pricing_type: 'subscription' })
  await notify.subscription({ network: '1', member_id: first.id, plan_id: plan.id })
  await send('members.remove_from_network', { params: { id: first.id } })
  newEvents()
  const again = await accept(await invite(), { last_name: 'Goble' })
  expect(again).toMatchObject({ id: first.id, last_name: 'Goble' })
  expect(newEvents().map(({ payload }) => payload.space_id)).toEqual([network.id])
  expect((await send('member_plans.list', { params: { member_id: first.id } })).body.items).toEqual([plan])
})

test('an invite is accepted once, also by two concurrent calls', async () => {
  const { send, invite, accept, newEvents } = await setUp()
  const id = await invite()
  const both = await Promise.allSettled([accept(id), accept(id)])
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  await expect(accept(id)).rejects.toMatchObject({ status: 422, body: { error: 'The invite is accepted already' } })
  expect(newEvents()).toHaveLength(1)
  expect((await send('members.list')).body.items).toHaveLength(2)
})

test('who is banned in the meantime cannot accept, and the invite stays open', async () => {
  const { send, notify, acceptInvite, newEvents } = await setUp()
  const [grace] = await createMembers({ send, newEvents }, 'Grace')
  const plan = await notify.plan({ network: '1', name: 'House' })
  const { body: invite } = await send('plan_invites.create', { params: { plan_id: plan.id }, query: { user_id: grace.id } })
  await ban({ send }, grace.id)
  newEvents()
  await expect(acceptInvite({ network: '1', invite: invite.id })).rejects.toMatchObject({
    status: 422,
    body: { error: 'The invite is for a member who is banned from this network' },
  })
  expect(newEvents()).toEqual([])
  expect((await send('plan_invites.delete', { params: { plan_id: plan.id, id: invite.id } })).status).toBe(204)
})

test('an invite to a plan that was archived, an unknown invite and an unknown network are refused', async () => {
  const { send, notify, accept, acceptInvite, inviteToPlan } = await setUp()
  const plan = await notify.plan({ network: '1', name: 'House' })
  const id = await inviteToPlan(plan.id)
  await send('plans.archive', { params: { id: plan.id } })
  await expect(accept(id)).rejects.toMatchObject({
    status: 422,
    body: { error: 'The plan is archived and takes no more members' },
  })
  await expect(accept(nobody)).rejects.toMatchObject({ status: 404, body: { error: 'Invite not found' } })
  await expect(acceptInvite({ network: 'nowhere', invite: id })).rejects.toMatchObject({
    status: 404,
    body: { error: 'Network not found' },
  })
})
