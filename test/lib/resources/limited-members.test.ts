import { expect, test } from 'vitest'
import { scoped } from '../../../lib/storage/scoped.ts'
import { members } from '../../../lib/storage/tables/members.ts'
import { createTestCommunity } from '../../support/community.ts'
import { idsOf, newMember, newSpace, typesOf } from '../../support/records.ts'

const email = 'grace@example.org'

async function setUp(fields: object = {}) {
  const t = await createTestCommunity()
  const space = await newSpace(t)
  const limited = await newMember(t, 'grace', { member_type: 'limited', space_ids: [space.id], ...fields })
  t.newEvents()
  const params = { id: limited.id }
  return {
    ...t,
    ...t.community,
    space,
    limited,
    params,
    typeOf: async () => (await t.send('members.show', { params })).body.member_type,
    roleOf: async () => (await t.storage.transaction((tx) => scoped(tx, '1').get(members, limited.id)))?.role,
    create: (more: object = {}) =>
      t.send('members.create', { body: { email, first_name: 'Amazing', last_name: 'Grace', ...more } }),
  }
}

const joined = (id: string) => ({
  event_type: 'MemberJoinedHook',
  payload: { member: { id, member_type: 'full' }, space_id: '1', network_id: '1' },
})

test('creating a member with the address of a limited one makes them full, and the response is that for a new member', async () => {
  const { create, send, limited, newEvents, events, space } = await setUp()
  const mails = events('host').length
  const made = await create({ email: 'Grace@Example.org' })
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({ id: limited.id, email: 'Grace@Example.org', member_type: 'full', first_name: 'Amazing' })
  expect(newEvents()).toMatchObject([joined(limited.id)])
  expect(typesOf(events('host').slice(mails))).toEqual(['WelcomeEmailRequestedHook'])
  expect(idsOf(await send('member_spaces.list', { params: { member_id: limited.id } }))).toEqual([space.id])
})

test('a limited member who becomes full keeps their role, unless another one is given', async () => {
  const kept = await setUp({ role: 'moderator' })
  await kept.create()
  expect(await kept.roleOf()).toBe('moderator')
  const given = await setUp({ role: 'moderator' })
  await given.create({ role: 'host' })
  expect(await given.roleOf()).toBe('host')
})

test('the last host stays one when they become a full member', async () => {
  const { create, send, owner, typeOf } = await setUp({ role: 'host' })
  await send('members.delete', { params: { id: owner.id } })
  const error = 'This is the last host of the network. Make another member a host first'
  expect(await create({ role: 'contributor' })).toMatchObject({ status: 422, body: { error } })
  expect(await typeOf()).toBe('limited')
  expect((await create()).status).toBe(201)
})

test('a member is not made limited by creating them, and the refusal says which kind they are', async () => {
  const { create, space, newEvents } = await setUp()
  const limited = { member_type: 'limited', space_ids: [space.id] }
  expect(await create(limited)).toMatchObject({
    status: 422,
    body: { error: 'email is already a limited member of this network' },
  })
  await create()
  newEvents()
  for (const fields of [{}, limited])
    expect(await create(fields)).toMatchObject({ status: 422, body: { error: 'email is already a member of this network' } })
  expect(newEvents()).toEqual([])
})

test.each([
  ['members.update', false],
  ['members.replace', false],
  ['space_members.update', true],
] as const)('%s makes a limited member full, once', async (operation, inSpace) => {
  const { send, params, space, limited, newEvents, typeOf } = await setUp()
  const change = () =>
    send(operation, {
      params: inSpace ? { space_id: space.id, user_id: limited.id } : params,
      body: { member_type: 'full' },
    })
  expect(await change()).toMatchObject({ status: 200, body: { id: limited.id, member_type: 'full' } })
  const updated = { event_type: 'MemberUpdatedHook', payload: { member: { id: limited.id, member_type: 'full' } } }
  expect(newEvents()).toMatchObject([updated, joined(limited.id)])
  expect(await change()).toMatchObject({ status: 200, body: { member_type: 'full' } })
  expect(newEvents()).toEqual([])
  expect(await typeOf()).toBe('full')
})

test('a full member does not become limited, and a limited one may be written back as limited', async () => {
  const { send, params, owner, newEvents } = await setUp()
  expect((await send('members.update', { params, body: { member_type: 'limited' } })).status).toBe(200)
  const error = 'member_type cannot become limited: remove the member from the network, then create them as a limited member'
  const refused = await send('members.update', { params: { id: owner.id }, body: { member_type: 'limited', first_name: 'Eve' } })
  expect(refused).toMatchObject({ status: 422, body: { error } })
  const unknown = await send('members.update', { params, body: { member_type: 'half' } })
  expect(unknown).toMatchObject({ status: 422, body: { error: 'member_type must be one of full, limited' } })
  expect(newEvents()).toEqual([])
})

test('an accepted invite makes a limited member full, under their own name', async () => {
  const { send, acceptInvite, limited, owner, newEvents } = await setUp()
  const invited = await send('invites.create', { body: { recipient_email: email } })
  expect(invited.status).toBe(200)
  const member = await acceptInvite({ network: '1', invite: invited.body.id })
  expect(member).toMatchObject({ id: limited.id, member_type: 'full', first_name: 'grace', last_name: 'Test' })
  expect(newEvents()).toMatchObject([joined(limited.id)])
  expect((await send('members.show', { params: { id: owner.id } })).body.referral_count).toBe(1)
})

test('a plan that a limited member gets by an invite leaves them limited', async () => {
  const { send, notify, acceptInvite, typeOf } = await setUp()
  const { id: plan_id } = await notify.plan({ network: '1', name: 'House' })
  const { body: invite } = await send('plan_invites.create', { params: { plan_id }, query: { email } })
  await acceptInvite({ network: '1', invite: invite.id })
  expect(await typeOf()).toBe('limited')
})

test('of several ways to make a limited member full at the same moment one announces it', async () => {
  const { create, send, params, newEvents } = await setUp()
  const body = { member_type: 'full' }
  const responses = await Promise.all([create(), create(), send('members.update', { params, body })])
  expect(responses.filter(({ status }) => status === 422).length).toBeGreaterThan(0)
  expect(typesOf(newEvents()).filter((type) => type === 'MemberJoinedHook')).toHaveLength(1)
})
