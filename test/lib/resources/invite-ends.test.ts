/** When an invite is over: its recipient has what it offers, has another address, or has left. */
import { expect, test } from 'vitest'
import { createTestCommunity, type RequestParts } from '../../support/community.ts'
import { newMember, newSpace } from '../../support/records.ts'

const email = 'grace@example.org'
const joinedAt = '2026-11-20T10:00:01.000Z'

async function setUp() {
  const t = await createTestCommunity()
  const invite = (recipient_email = email) => t.send('invites.create', { body: { recipient_email } })
  const inviteTo = async (query: RequestParts['query'] & {}, fields: object = {}) => {
    const { id: plan_id } = await t.community.notify.plan({ network: '1', name: 'House', ...fields })
    const params = { plan_id }
    const { body } = await t.send('plan_invites.create', { params, query })
    return { params: { plan_id, id: body.id }, plan_id, again: () => t.send('plan_invites.create', { params, query }) }
  }
  const member = (name = 'grace', fields: object = {}) => newMember(t, name, fields)
  return {
    ...t,
    ...t.community,
    invite,
    inviteTo,
    member,
    leave: (id: string) => t.send('members.delete', { params: { id } }),
    accept: (id: string) => t.community.acceptInvite({ network: '1', invite: id, first_name: 'Grace' }),
    listed: async () => (await t.send('invites.list')).body.items,
    mails: () => t.events('host').filter(({ event_type }) => event_type === 'InviteEmailRequestedHook').length,
  }
}
type World = Awaited<ReturnType<typeof setUp>>

const joins: Readonly<Record<string, (t: World) => Promise<{ readonly id: string }>>> = {
  'they are made a member': ({ member }) => member(),
  'a member takes the address': async ({ member, send }) => {
    const { id } = await member('alan')
    return (await send('members.update', { params: { id }, body: { email: 'Grace@Example.org' } })).body
  },
  'a removed member comes back': async ({ member, send }) => {
    const { id } = await member('alan')
    await send('members.remove_from_network', { params: { id } })
    await send('invites.create', { body: { recipient_email: 'alan@example.org' } })
    await member('alan')
    return (await send('members.update', { params: { id }, body: { email } })).body
  },
  'they accept another invite': async ({ inviteTo, accept }) => accept((await inviteTo({ email })).params.id),
}

test.each(Object.entries(joins))('an invite to the network is closed when %s, and they can be invited again', async (_, join) => {
  const t = await setUp()
  const { body: made } = await t.invite()
  t.clock.advance(1000)
  const { id } = await join(t)
  const listed = await t.listed()
  expect(listed.find((invite: { id: string }) => invite.id === made.id)).toEqual({
    ...made,
    updated_at: joinedAt,
    accepted_at: joinedAt,
  })
  expect(listed.every(({ accepted_at }: { accepted_at: unknown }) => accepted_at !== null)).toBe(true)
  const late = t.accept(made.id)
  await expect(late).rejects.toMatchObject({ status: 422, body: { error: 'The invite is accepted already' } })
  await t.leave(id)
  expect((await t.invite()).status).toBe(200)
})

test('a limited member leaves the invite to the network open until they join it', async () => {
  const { invite, listed, member, send, leave } = await setUp()
  const space = await newSpace({ send })
  const { id } = await member('grace', { member_type: 'limited', space_ids: [space.id] })
  await invite()
  const isOpen = async () => (await listed()).at(-1).accepted_at === null
  await send('members.update', { params: { id }, body: { first_name: 'Amazing' } })
  expect(await isOpen()).toBe(true)
  await send('members.update', { params: { id }, body: { member_type: 'full' } })
  expect(await isOpen()).toBe(false)
  await leave(id)
  expect((await invite()).status).toBe(200)
})

test('removing a limited member ends their invite, and their address can be invited again', async () => {
  const { invite, listed, member, send, leave, accept, mails } = await setUp()
  const space = await newSpace({ send })
  const { id } = await member('grace', { member_type: 'limited', space_ids: [space.id] })
  const { body: made } = await invite()
  await leave(id)
  expect(await listed()).toEqual([{ ...made, recipient_email: '' }])
  await expect(accept(made.id)).rejects.toMatchObject({
    status: 422,
    body: { error: 'The invite is for a member who has left this network. Send their address a new invite' },
  })
  const again = await invite()
  expect([again.status, again.body.recipient_email]).toEqual([200, email])
  expect(mails()).toBe(2)
})

test('direct access to a plan closes the invite to it, and a payment does not', async () => {
  const { inviteTo, member, send, notify } = await setUp()
  const { id: member_id } = await member()
  const free = await inviteTo({ user_id: member_id }, { pricing_type: 'free' })
  const sold = await inviteTo({ email }, { pricing_type: 'subscription' })
  await send('plan_members.create', { params: { plan_id: free.plan_id }, query: { user_id: member_id } })
  await notify.subscription({ network: '1', member_id, plan_id: sold.plan_id })
  const acceptedAt = async ({ params }: typeof free) => (await send('plan_invites.show', { params })).body.accepted_at
  expect([await acceptedAt(free), await acceptedAt(sold)]).toEqual(['2026-11-20T10:00:00.000Z', null])
  await send('plans.remove_member', { params: { plan_id: free.plan_id, id: member_id } })
  expect((await free.again()).status).toBe(200)
})

test.each(['members.delete', 'members.remove_from_network'])(
  'an invite to a plan does not keep the address of a member after %s',
  async (operation) => {
    const { inviteTo, member, send, mails } = await setUp()
    const { id } = await member()
    const { params, plan_id } = await inviteTo({ user_id: id })
    await send(operation, { params: { id } })
    expect((await send('plan_invites.show', { params })).body).toMatchObject({ recipient_email: '', accepted_at: null })
    const again = await send('plan_invites.create', { params: { plan_id }, query: { email } })
    expect([again.status, again.body.recipient_email]).toEqual([200, email])
    expect((await send('plan_invites.resend_patch', { params: { plan_id, id: again.body.id } })).status).toBe(200)
    expect(mails()).toBe(3)
  },
)

test('the invites of a member move with their address, and the former one is free', async () => {
  const { inviteTo, member, send, accept } = await setUp()
  const { id } = await member()
  const { params, plan_id, again } = await inviteTo({ email })
  await send('members.update', { params: { id }, body: { email: 'hopper@example.org' } })
  expect((await again()).status).toBe(200)
  const moved = await send('plan_invites.create', { params: { plan_id }, query: { email: 'hopper@example.org' } })
  expect(moved.body).toEqual({ error: 'email is already invited to this plan' })
  expect((await accept(params.id)).id).toBe(id)
})

test.each(['invites.update', 'invites.replace'])('%s with the address of the invite alone sends it again', async (operation) => {
  const { invite, send, clock, mails } = await setUp()
  const { body: made } = await invite()
  clock.advance(1000)
  const change = (body: object) => send(operation, { params: { id: made.id }, body })
  const sent = await change({ recipient_email: email })
  expect([sent.status, sent.body]).toEqual([200, { ...made, updated_at: joinedAt }])
  expect(mails()).toBe(2)
  // A record that is written back is no request for mail.
  expect((await change({ ...made, user_id: null })).status).toBe(200)
  expect((await change({ recipient_email: email, recipient_first_name: 'Grace' })).status).toBe(200)
  expect((await change({})).status).toBe(200)
  expect(mails()).toBe(2)
})

test('an invite to the network is not sent again once its person is in or has accepted', async () => {
  const { invite, send, accept, mails } = await setUp()
  const { body: made } = await invite()
  const { id } = await accept(made.id)
  const resend = () => send('invites.update', { params: { id: made.id }, body: { recipient_email: email } })
  const error = 'The invite is accepted already and cannot be changed'
  expect(await resend()).toMatchObject({ status: 422, body: { error } })
  await send('members.delete', { params: { id } })
  expect(await resend()).toMatchObject({ status: 422, body: { error } })
  expect(mails()).toBe(1)
})

test('an invite that ended may be changed to another person', async () => {
  const { inviteTo, member, send, mails, leave } = await setUp()
  const { id } = await member()
  const { params } = await inviteTo({ user_id: id })
  await leave(id)
  const body = { recipient_email: 'dorothy@example.org' }
  expect(await send('invites.update', { params: { id: params.id }, body })).toMatchObject({ status: 200, body })
  expect(mails()).toBe(2)
})

test('no one is invited while they join', async () => {
  const { invite, send, listed } = await setUp()
  const join = () => send('members.create', { body: { email, first_name: 'Grace', last_name: 'Hopper' } })
  await Promise.all([invite(), join(), invite(), invite()])
  expect((await listed()).filter(({ accepted_at }: { accepted_at: unknown }) => accepted_at === null)).toEqual([])
})
