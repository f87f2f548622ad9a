import { expect, test } from 'vitest'
import { createTestCommunity, nobody, type RequestParts } from '../../support/community.ts'
import { ban, createMembers } from '../../support/members.ts'

const email = 'katherine@example.org'

async function setUp() {
  const t = await createTestCommunity()
  const [grace] = await createMembers(t, 'Grace')
  const { id: plan_id } = await t.community.notify.plan({ network: '1', name: 'Patron', pricing_type: 'subscription' })
  const create = (parts: RequestParts) => t.send('plan_invites.create', { params: { plan_id }, ...parts })
  return {
    ...t,
    ...t.community,
    grace,
    plan_id,
    create,
    mails: () => t.events('host').filter(({ event_type }) => event_type === 'InviteEmailRequestedHook'),
  }
}

test('an address is invited to a plan: 200, shown and listed, and the mail is requested with its message', async () => {
  const { send, create, owner, plan_id, mails } = await setUp()
  const made = await create({ query: { email, message: 'Do come.' } })
  expect(made.status).toBe(200)
  expect(made.body).toEqual({
    id: expect.any(String),
    created_at: '2026-11-20T10:00:00.000Z',
    updated_at: '2026-11-20T10:00:00.000Z',
    recipient_email: email,
    recipient_first_name: '',
    recipient_last_name: '',
    sender_id: owner.id,
    user_id: owner.id,
    accepted_at: null,
  })
  expect((await send('plan_invites.show', { params: { plan_id, id: made.body.id } })).body).toEqual(made.body)
  expect((await send('plan_invites.list', { params: { plan_id } })).body.items).toEqual([made.body])
  expect(mails()).toMatchObject([{ payload: { invite_id: made.body.id, recipient_email: email, plan_id, message: 'Do come.' } }])
})

test('a member is invited by user_id, in a query or in a JSON body, under their own name; the mail goes to their own address', async () => {
  const { create, grace, mails } = await setUp()
  const made = await create({ body: { user_id: grace.id } })
  expect(made.body).toMatchObject({
    recipient_email: '',
    recipient_first_name: 'Grace',
    recipient_last_name: 'Example',
  })
  expect(mails()).toMatchObject([{ payload: { recipient_email: 'grace@example.org' } }])
  const again = await create({ query: { user_id: grace.id } })
  expect([again.status, again.body]).toEqual([422, { error: 'user_id is already invited to this plan' }])
  const byAddress = await create({ query: { email: 'GRACE@example.org' } })
  expect(byAddress.body).toEqual({ error: 'email is already invited to this plan' })
})

test('an address that is given for user_id is shown as it was given, one that replaces it too', async () => {
  const { create, grace, send } = await setUp()
  const { body: made } = await create({ query: { user_id: grace.id, email: 'Grace@Example.org' } })
  expect(made.recipient_email).toBe('Grace@Example.org')
  await send('invites.delete', { params: { id: made.id } })
  const { body: hidden } = await create({ query: { user_id: grace.id } })
  expect(hidden.recipient_email).toBe('')
  const { body: moved } = await send('invites.update', { params: { id: hidden.id }, body: { recipient_email: email } })
  expect(moved.recipient_email).toBe(email)
})

test('who has another address by now accepts the invite as the same member', async () => {
  const { create, grace, send, acceptInvite, plan_id } = await setUp()
  const { body: made } = await create({ query: { user_id: grace.id } })
  await send('members.update', { params: { id: grace.id }, body: { email: 'hopper@example.org' } })
  expect((await acceptInvite({ network: '1', invite: made.id })).id).toBe(grace.id)
  expect((await send('plan_members.show', { params: { plan_id, member_id: grace.id } })).status).toBe(200)
})

test('email or user_id is required, and each has to be good', async () => {
  const { create, grace, mails } = await setUp()
  const error = async (parts: RequestParts) => {
    const { status, body } = await create(parts)
    return [status, body.error]
  }
  expect(await error({})).toEqual([422, 'email or user_id is required'])
  expect(await error({ query: { email: 'nowhere' } })).toEqual([422, 'email must be an e-mail address'])
  expect(await error({ query: { user_id: 'grace' } })).toEqual([422, 'user_id must be an id'])
  expect(await error({ query: { user_id: nobody } })).toEqual([422, `user_id: there is no member ${nobody} in this network`])
  expect(await error({ query: { user_id: grace.id, email } })).toEqual([
    422,
    'email is not the address of the member in user_id. Send only one of the two',
  ])
  expect((await create({ query: { user_id: grace.id, email: 'Grace@Example.org' } })).status).toBe(200)
  expect(mails()).toHaveLength(1)
})

test('who has access already is not invited', async () => {
  const { create, grace, plan_id, notify } = await setUp()
  await notify.subscription({ network: '1', member_id: grace.id, plan_id })
  const refused = await create({ query: { user_id: grace.id } })
  expect([refused.status, refused.body]).toEqual([422, { error: 'user_id is already a member of this plan' }])
})

test.each(['plan_invites.resend_patch', 'plan_invites.resend_put'])('%s requests the mail again', async (operation) => {
  const { send, create, clock, plan_id, mails } = await setUp()
  const { body: made } = await create({ query: { email } })
  clock.advance(1000)
  const sent = await send(operation, { params: { plan_id, id: made.id } })
  expect([sent.status, sent.body]).toEqual([200, { ...made, updated_at: '2026-11-20T10:00:01.000Z' }])
  expect(mails().map(({ payload }) => payload.invite_id)).toEqual([made.id, made.id])
})

test('an invited member who has another address by now gets the mail there, and the invite shows it', async () => {
  const { send, create, grace, plan_id, mails, notify } = await setUp()
  await notify.emailConsent({ network: '1', member_id: grace.id, consent: true })
  const { body: made } = await create({ query: { user_id: grace.id } })
  await send('members.update', { params: { id: grace.id }, body: { email: 'hopper@example.org' } })
  const params = { plan_id, id: made.id }
  const { body: visible } = await send('members.show', { params: { id: grace.id } })
  expect((await send('plan_invites.show', { params })).body.recipient_email).toBe(visible.email)
  expect((await send('plan_invites.resend_patch', { params })).status).toBe(200)
  expect(mails().at(-1)).toMatchObject({ payload: { invite_id: made.id, recipient_email: 'hopper@example.org' } })
  const again = await create({ query: { user_id: grace.id } })
  expect([again.status, again.body]).toEqual([422, { error: 'user_id is already invited to this plan' }])
})

test('an invite is not sent again to someone who is banned or has access', async () => {
  const { send, create, grace, plan_id, mails, notify } = await setUp()
  const params = { plan_id, id: (await create({ query: { user_id: grace.id } })).body.id }
  await notify.subscription({ network: '1', member_id: grace.id, plan_id })
  const inside = await send('plan_invites.resend_patch', { params })
  expect([inside.status, inside.body]).toEqual([422, { error: 'recipient_email is already a member of this plan' }])
  await ban({ send }, grace.id)
  const banned = await send('plan_invites.resend_patch', { params })
  const error = 'recipient_email belongs to a member who is banned from this network'
  expect([banned.status, banned.body]).toEqual([422, { error }])
  expect(mails()).toHaveLength(1)
})

test('an accepted invite is neither sent again nor deleted', async () => {
  const { send, create, acceptInvite, plan_id, mails } = await setUp()
  const { body: made } = await create({ query: { email } })
  await acceptInvite({ network: '1', invite: made.id, first_name: 'Katherine' })
  const params = { plan_id, id: made.id }
  const sent = await send('plan_invites.resend_patch', { params })
  expect([sent.status, sent.body]).toEqual([422, { error: 'The invite is accepted already and cannot be sent again' }])
  const deleted = await send('plan_invites.delete', { params })
  expect([deleted.status, deleted.body]).toEqual([
    409,
    { error: 'The invite is accepted already. Take the member off the plan instead' },
  ])
  expect(mails()).toHaveLength(1)
})

test('a revoked invite is gone, and the address can be invited again', async () => {
  const { send, create, plan_id } = await setUp()
  const { body: made } = await create({ query: { email } })
  expect((await send('plan_invites.delete', { params: { plan_id, id: made.id } })).status).toBe(204)
  expect((await send('plan_invites.show', { params: { plan_id, id: made.id } })).status).toBe(404)
  expect((await create({ query: { email } })).status).toBe(200)
})

test('an invite is found in its own plan and nowhere else', async () => {
  const { send, create, notify, plan_id } = await setUp()
  const { body: made } = await create({ query: { email } })
  const { body: toNetwork } = await send('invites.create', { body: { recipient_email: email } })
  const other = await notify.plan({ network: '1', name: 'Other' })
  const operations = ['plan_invites.show', 'plan_invites.resend_patch', 'plan_invites.delete']
  for (const operation of operations) {
    for (const params of [
      { plan_id: other.id, id: made.id },
      { plan_id, id: toNetwork.id },
      { plan_id, id: nobody },
    ])
      expect((await send(operation, { params })).body).toEqual({ error: 'Invite not found' })
    expect((await send(operation, { params: { plan_id: nobody, id: made.id } })).body).toEqual({ error: 'Plan not found' })
  }
  for (const operation of ['plan_invites.list', 'plan_invites.create'])
    expect((await send(operation, { params: { plan_id: nobody } })).body).toEqual({ error: 'Plan not found' })
})
