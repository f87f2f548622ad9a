import { expect, test } from 'vitest'
import { scoped } from '../../../lib/storage/scoped.ts'
import { spaceMemberships } from '../../../lib/storage/tables/members.ts'
import { planMemberships, planSpaces, plans } from '../../../lib/storage/tables/plans.ts'
import { createTestCommunity, nobody, type TestCommunity } from '../../support/community.ts'
import { idsOf, neighbour, newMember, newSpace, now, typesOf } from '../../support/records.ts'

async function spaceWithMember() {
  const test = await createTestCommunity()
  const space = await newSpace(test)
  const { id: user_id } = await newMember(test, 'grace')
  await test.send('space_members.create', { params: { space_id: space.id }, query: { user_id } })
  test.newEvents()
  const { body: member } = await test.send('members.show', { params: { id: user_id } })
  return { test, space, member, params: { space_id: space.id, user_id } }
}

test.each(['query', 'body'])('a member is added to a space, named in the %s', async (where) => {
  const test = await createTestCommunity()
  const space = await newSpace(test)
  const { id } = await newMember(test, 'grace')
  const { body: member } = await test.send('members.show', { params: { id } })
  test.newEvents()
  const params = { space_id: space.id }
  const added = await test.send('space_members.create', { params, [where]: { user_id: id } })
  expect(added.status).toBe(200)
  expect(added.body).toEqual(member)
  expect(test.newEvents()).toMatchObject([
    { event_type: 'MemberJoinedHook', payload: { member, space_id: space.id, network_id: '1' } },
  ])
  expect((await test.send('space_members.list', { params })).body.items).toEqual([member])
  expect((await test.send('space_members.show', { params: { ...params, user_id: id } })).body).toEqual(member)
  expect(idsOf(await test.send('member_spaces.list', { params: { member_id: id } }))).toEqual([space.id])
})

test('members of a space are listed in ascending order of id, whenever they joined it', async () => {
  const { test, space, member } = await spaceWithMember()
  const later = await newMember(test, 'later')
  const params = { space_id: space.id }
  for (const user_id of [later.id, test.owner.id]) await test.send('space_members.create', { params, query: { user_id } })
  expect(idsOf(await test.send('space_members.list', { params }))).toEqual([test.owner.id, member.id, later.id])
  const first = await test.send('space_members.list', { params, query: { per_page: 2 } })
  expect(idsOf(first)).toEqual([test.owner.id, member.id])
  const next = new URL(first.body.links.next)
  const second = await test.send('space_members.list', { params, query: Object.fromEntries(next.searchParams) })
  expect(idsOf(second)).toEqual([later.id])
  expect(second.body.links.next).toBeNull()
})

test('adding refuses who is in the space already, and announces nothing', async () => {
  const { test, params } = await spaceWithMember()
  const refused = await test.send('space_members.create', { params, query: { user_id: params.user_id } })
  expect(refused).toMatchObject({ status: 422, body: { error: 'user_id is already a member of this space' } })
  expect(test.newEvents()).toEqual([])
})

test('adding names what is missing', async () => {
  const { test, params, space } = await spaceWithMember()
  const add = (space_id: string, query: Record<string, string>) =>
    test.send('space_members.create', { params: { space_id }, query })
  const other = await neighbour(test)
  expect(await add(space.id, {})).toMatchObject({ status: 422, body: { error: 'user_id is required' } })
  expect(await add(space.id, { user_id: 'grace' })).toMatchObject({ status: 422, body: { error: 'user_id must be an id' } })
  expect(await add(nobody, params)).toMatchObject({ status: 404, body: { error: 'Space not found' } })
  expect(await add(other.space.id, params)).toMatchObject({ status: 404, body: { error: 'Space not found' } })
  expect(await add(space.id, { user_id: nobody })).toMatchObject({ status: 404, body: { error: 'Member not found' } })
  expect(await add(space.id, { user_id: other.owner.id })).toMatchObject({ status: 404, body: { error: 'Member not found' } })
})

test.each([
  ['show', {}],
  ['update', { body: {} }],
  ['replace', { body: {} }],
  ['delete', {}],
])('%s of somebody who is not in the space is a 404', async (verb, parts) => {
  const { test, space, params } = await spaceWithMember()
  const loner = await newMember(test, 'loner')
  const ask = (space_id: string, user_id: string) =>
    test.send(`space_members.${verb}`, { params: { space_id, user_id }, ...parts })
  expect(await ask(space.id, loner.id)).toMatchObject({ status: 404, body: { error: 'Member not found' } })
  expect(await ask(space.id, nobody)).toMatchObject({ status: 404, body: { error: 'Member not found' } })
  expect(await ask(nobody, params.user_id)).toMatchObject({ status: 404, body: { error: 'Space not found' } })
  expect(typesOf(test.newEvents())).toEqual(['MemberJoinedHook'])
})

test.each(['space_members.update', 'space_members.replace'])('%s changes the profile and names the space', async (operation) => {
  const { test, space, member, params } = await spaceWithMember()
  const changed = await test.send(operation, { params, body: { first_name: 'Amazing' } })
  expect(changed.status).toBe(200)
  expect(changed.body).toEqual({ ...member, first_name: 'Amazing' })
  expect(test.newEvents()).toMatchObject([
    { event_type: 'MemberUpdatedHook', payload: { member: changed.body, space_id: space.id, network_id: '1' } },
  ])
})

test('a role in a space is no role in the network', async () => {
  const { test, params } = await spaceWithMember()
  expect((await test.send('space_members.update', { params, body: { role: 'host' } })).status).toBe(200)
  const { network } = test
  const membership = await test.storage.transaction((tx) =>
    scoped(tx, network.id).first(spaceMemberships, { space_id: params.space_id, member_id: params.user_id }),
  )
  expect(membership?.role).toBe('host')
  const me = await test.community.call('me.show', { network: network.id, as: params.user_id })
  expect(me.role).toBe('contributor')
})

test('a bad role or the address of another person is refused', async () => {
  const { test, params } = await spaceWithMember()
  const change = (body: object) => test.send('space_members.update', { params, body })
  expect(await change({ role: 'owner' })).toMatchObject({
    status: 422,
    body: { error: 'role must be one of host, moderator, contributor' },
  })
  expect(await change({ role: 'host', email: 'host@example.org' })).toMatchObject({
    status: 422,
    body: { error: 'email is already a member of this network' },
  })
  expect(test.newEvents()).toEqual([])
})

test('a member is taken out of the space and stays in the network', async () => {
  const { test, space, member, params } = await spaceWithMember()
  const removed = await test.send('space_members.delete', { params })
  expect(removed).toMatchObject({ status: 200, body: {} })
  expect(removed.body).toEqual({})
  expect(test.newEvents()).toMatchObject([
    { event_type: 'MemberLeftHook', payload: { member, space_id: space.id, network_id: '1' } },
  ])
  expect((await test.send('space_members.show', { params })).status).toBe(404)
  expect((await test.send('members.show', { params: { id: member.id } })).status).toBe(200)
  expect((await test.send('space_members.delete', { params })).body).toEqual({ error: 'Member not found' })
})

test('who holds a paid plan of the space cannot be taken out of it', async () => {
  const { test, params } = await spaceWithMember()
  await holdPlan(test, params, 'subscription', 'subscription')
  const refused = await test.send('space_members.delete', { params })
  const error = 'The member holds a paid plan of this space. Take them off the plan first'
  expect(refused).toMatchObject({ status: 403, body: { error } })
  expect(refused.body).toEqual({ error })
  expect((await test.send('space_members.show', { params })).status).toBe(200)
  expect(test.newEvents()).toEqual([])
})

test.each([
  ['free', 'direct', 200],
  ['nonpaid', 'invite', 200],
  ['one_time', 'direct', 403],
  // The plan has become free, what was paid for it was paid.
  ['free', 'purchase', 403],
] as const)('with a %s plan held by %s, taking out answers %i', async (pricing_type, source, status) => {
  const { test, params } = await spaceWithMember()
  await holdPlan(test, params, pricing_type, source)
  expect((await test.send('space_members.delete', { params })).status).toBe(status)
})

test('a paid plan that does not open the space is no hindrance', async () => {
  const { test, params } = await spaceWithMember()
  const elsewhere = await newSpace(test, 'Elsewhere')
  await holdPlan(test, { ...params, space_id: elsewhere.id }, 'subscription', 'subscription')
  expect((await test.send('space_members.delete', { params })).status).toBe(200)
})

test('a ban takes the member out of the network and of every space', async () => {
  const { test, space, params } = await spaceWithMember()
  const second = await newSpace(test, 'Second')
  await test.send('space_members.create', { params: { space_id: second.id }, query: { user_id: params.user_id } })
  test.newEvents()
  const banned = await test.send('space_members.ban', { params, body: { ban_reason: 'Selling shoes' } })
  expect(banned.status).toBe(200)
  expect(banned.body).toEqual({})
  expect(test.newEvents().map(({ event_type, payload }) => [event_type, payload.space_id])).toEqual([
    ['MemberLeftHook', space.id],
    ['MemberLeftHook', second.id],
    ['MemberLeftHook', '1'],
  ])
  expect(idsOf(await test.send('members.list'))).toEqual([test.owner.id])
  expect((await test.send('space_members.ban', { params })).body).toEqual({ error: 'Member not found' })
})

test('a banned member cannot come back by any way', async () => {
  const { test, params } = await spaceWithMember()
  await test.send('space_members.ban', { params })
  test.newEvents()
  const user_id = params.user_id
  const body = { email: 'GRACE@example.org', first_name: 'Grace', last_name: 'Hopper' }
  expect(await test.send('members.create', { body })).toMatchObject({
    status: 422,
    body: { error: 'email belongs to a member who is banned from this network' },
  })
  expect((await test.send('space_members.create', { params, query: { user_id } })).status).toBe(404)
  expect((await test.send('members.delete', { params: { id: user_id } })).status).toBe(204)
  await test.storage.transaction((tx) =>
    scoped(tx, test.network.id).insert(plans, { id: '501', created_at: now, updated_at: now, name: 'Free' }),
  )
  expect((await test.send('plan_members.create', { params: { plan_id: '501' }, query: { user_id } })).status).toBe(404)
  const invite = { recipient_email: 'Grace@example.org' }
  expect((await test.send('invites.create', { body: invite })).status).toBe(422)
  expect((await test.send('plan_invites.create', { params: { plan_id: '501' }, body: invite })).status).toBe(422)
  // No one else may take the address over either, and come in with it.
  expect((await test.send('members.update', { params: { id: test.owner.id }, body: { email: body.email } })).status).toBe(422)
  expect(test.newEvents()).toEqual([])
})

test('the last host cannot be banned, nor anybody who is not there', async () => {
  const { test, space } = await spaceWithMember()
  const ban = (space_id: string, user_id: string) => test.send('space_members.ban', { params: { space_id, user_id } })
  expect(await ban(space.id, test.owner.id)).toMatchObject({
    status: 422,
    body: { error: 'This is the last host of the network. Make another member a host first' },
  })
  expect(await ban(space.id, nobody)).toMatchObject({ status: 404, body: { error: 'Member not found' } })
  expect(await ban(nobody, test.owner.id)).toMatchObject({ status: 404, body: { error: 'Space not found' } })
})

/** Gives the member a plan that opens the space. */
async function holdPlan(
  { storage, network }: TestCommunity,
  { space_id, user_id }: { readonly space_id: string; readonly user_id: string },
  pricing_type: 'free' | 'nonpaid' | 'subscription' | 'one_time',
  source: 'direct' | 'invite' | 'subscription' | 'purchase',
) {
  await storage.transaction(async (storageTx) => {
    const tx = scoped(storageTx, network.id)
    const stamp = (id: string) => ({ id, created_at: now, updated_at: now })
    await tx.insert(plans, { ...stamp('501'), name: 'Plan', pricing_type })
    await tx.insert(planSpaces, { ...stamp('502'), plan_id: '501', space_id })
    await tx.insert(planMemberships, { ...stamp('503'), plan_id: '501', member_id: user_id, source })
  })
}
