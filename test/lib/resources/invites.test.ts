import { expect, test } from 'vitest'
import { createTestCommunity, nobody, request } from '../../support/community.ts'
import { ban, createMembers } from '../../support/members.ts'

const email = 'Katherine@example.org'
const taken = (error: string) => [422, { error }]

async function setUp() {
  const t = await createTestCommunity()
  const invite = async (body: object = {}) => t.send('invites.create', { body: { recipient_email: email, ...body } })
  return {
    ...t,
    ...t.community,
    invite,
    mails: () => t.events('host').filter((event) => event.event_type === 'InviteEmailRequestedHook'),
  }
}

test('an invite gets a 200, is listed, and its mail is requested', async () => {
  const { send, invite, owner, mails, newEvents } = await setUp()
  const made = await invite({ recipient_first_name: 'Katherine', recipient_last_name: 'Johnson' })
  expect(made.status).toBe(200)
  expect(made.body).toEqual({
    id: expect.any(String),
    created_at: '2026-11-20T10:00:00.000Z',
    updated_at: '2026-11-20T10:00:00.000Z',
    recipient_email: email,
    recipient_first_name: 'Katherine',
    recipient_last_name: 'Johnson',
    sender_id: owner.id,
    user_id: owner.id,
    accepted_at: null,
  })
  expect((await send('invites.list')).body.items).toEqual([made.body])
  expect(mails()).toMatchObject([
    { payload: { invite_id: made.body.id, recipient_email: email, sender_id: owner.id, plan_id: null } },
  ])
  expect(newEvents()).toEqual([])
})

test('names that are not given are empty texts, and user_id names the inviter', async () => {
  const { invite, ...t } = await setUp()
  const [grace] = await createMembers(t, 'Grace')
  const made = await invite({ user_id: Number(grace.id) })
  expect(made.body).toMatchObject({ recipient_first_name: '', recipient_last_name: '', sender_id: grace.id, user_id: grace.id })
})

test('the list is filtered by address, whatever its case, and leaves out invites to plans', async () => {
  const { send, notify, invite } = await setUp()
  await invite()
  const { body: other } = await invite({ recipient_email: 'dorothy@example.org' })
  const plan = await notify.plan({ network: '1', name: 'Patron' })
  await send('plan_invites.create', { params: { plan_id: plan.id }, query: { email: 'dorothy@example.org' } })
  expect((await send('invites.list', { query: { email: 'DOROTHY@example.org' } })).body.items).toEqual([other])
  expect((await send('invites.list', { query: { email: 'nobody@example.org' } })).body.items).toEqual([])
  expect((await send('invites.list', { query: { email: '' } })).body.items).toEqual([])
  expect((await send('invites.list')).body.items).toHaveLength(2)
})

test('bad addresses, and addresses that are in, invited or banned already, are refused', async () => {
  const { send, invite, mails, ...t } = await setUp()
  const [, alan] = await createMembers({ send, ...t }, 'Grace', 'Alan')
  const refused = async (body: object) => {
    const { status, body: answer } = await invite(body)
    return [status, answer]
  }
  expect(await refused({ recipient_email: undefined })).toEqual(taken('recipient_email is required'))
  expect(await refused({ recipient_email: 'not an address' })).toEqual(taken('recipient_email must be an e-mail address'))
  expect(await refused({ recipient_email: 7 })).toEqual(taken('recipient_email must be an e-mail address'))
  expect(await refused({ recipient_first_name: 7 })).toEqual(taken('recipient_first_name must be a text'))
  expect(await refused({ user_id: nobody })).toEqual(taken(`user_id: there is no member ${nobody} in this network`))
  expect(await refused({ recipient_email: 'GRACE@example.org' })).toEqual(
    taken('recipient_email is already a member of this network'),
  )
  await ban({ send }, alan.id)
  expect(await refused({ recipient_email: 'alan@example.org' })).toEqual(
    taken('recipient_email belongs to a member who is banned from this network'),
  )
  expect(mails()).toEqual([])
  await invite()
  expect(await refused({ recipient_email: email.toUpperCase() })).toEqual(
    taken('recipient_email is already invited to this network'),
  )
  expect(mails()).toHaveLength(1)
})

test('PATCH and PUT change what they name; a new address gets a separate mail', async () => {
  const { send, invite, mails } = await setUp()
  const { body: made } = await invite({ recipient_first_name: 'Kate', recipient_last_name: 'Johnson' })
  const params = { id: made.id }
  const renamed = await send('invites.update', { params, body: { recipient_first_name: 'Katherine' } })
  expect([renamed.status, renamed.body]).toEqual([200, { ...made, recipient_first_name: 'Katherine' }])
  const recased = await send('invites.replace', { params, body: { recipient_email: 'katherine@example.org' } })
  expect(recased.body).toEqual({ ...made, recipient_first_name: 'Katherine', recipient_email: 'katherine@example.org' })
  expect(mails()).toHaveLength(1)
  const moved = await send('invites.replace', { params, body: { recipient_email: 'kj@example.org' } })
  expect(moved.body).toMatchObject({ recipient_email: 'kj@example.org', recipient_last_name: 'Johnson' })
  expect(mails().map(({ payload }) => payload.recipient_email)).toEqual([email, 'kj@example.org'])
  expect((await send('invites.list', { query: { email } })).body.items).toEqual([])
  expect((await invite()).status).toBe(200)
})

test('a change of address is refused where an invite to it would be', async () => {
  const { send, invite, owner, mails } = await setUp()
  const { body: made } = await invite()
  await invite({ recipient_email: 'dorothy@example.org' })
  const change = async (recipient_email: string) =>
    (await send('invites.update', { params: { id: made.id }, body: { recipient_email } })).body
  expect(await change('dorothy@example.org')).toEqual({ error: 'recipient_email is already invited to this network' })
  expect(await change(owner.email)).toEqual({ error: 'recipient_email is already a member of this network' })
  expect(mails()).toHaveLength(2)
})

test('a deleted invite is gone, and its address can be invited again', async () => {
  const { send, invite } = await setUp()
  const { body: made } = await invite()
  const deleted = await send('invites.delete', { params: { id: made.id } })
  expect([deleted.status, deleted.body]).toEqual([204, undefined])
  expect((await send('invites.list')).body.items).toEqual([])
  expect((await send('invites.delete', { params: { id: made.id } })).status).toBe(404)
  expect((await invite()).status).toBe(200)
})

test('an accepted invite stays listed with its time, and can neither be changed nor deleted', async () => {
  const { send, invite, acceptInvite } = await setUp()
  const { body: made } = await invite({ recipient_first_name: 'Katherine' })
  await acceptInvite({ network: '1', invite: made.id })
  const deleted = await send('invites.delete', { params: { id: made.id } })
  expect([deleted.status, deleted.body]).toEqual([
    409,
    { error: 'The invite is accepted already. Remove the membership instead' },
  ])
  const changed = await send('invites.update', { params: { id: made.id }, body: { recipient_first_name: 'Kate' } })
  expect([changed.status, changed.body]).toEqual([422, { error: 'The invite is accepted already and cannot be changed' }])
  expect((await send('invites.list')).body.items).toEqual([{ ...made, accepted_at: made.created_at }])
})

test('what is no invite of the network is a 404', async () => {
  const { send } = await setUp()
  for (const id of [nobody, '18446744073709551615'])
    for (const [operation, parts] of [
      ['invites.update', { body: { recipient_first_name: 'Kate' } }],
      ['invites.delete', {}],
    ] as const) {
      const response = await send(operation, { params: { id }, ...parts })
      expect([response.status, response.body]).toEqual([404, { error: 'Invite not found' }])
    }
})

test('an invite to a plan is changed and deleted here too, and stays one to the plan', async () => {
  const { send, notify, mails } = await setUp()
  const plan = await notify.plan({ network: '1', name: 'Patron' })
  const params = { plan_id: plan.id }
  const { body: made } = await send('plan_invites.create', { params, query: { email } })
  const change = (body: object) => send('invites.update', { params: { id: made.id }, body })
  expect((await change({ recipient_first_name: 'Kate' })).body).toEqual({ ...made, recipient_first_name: 'Kate' })
  const moved = await change({ recipient_email: 'kj@example.org' })
  expect(moved).toMatchObject({ status: 200, body: { id: made.id, recipient_email: 'kj@example.org' } })
  expect(mails().map(({ payload }) => [payload.recipient_email, payload.plan_id])).toEqual([
    [email, plan.id],
    ['kj@example.org', plan.id],
  ])
  expect((await send('plan_invites.list', { params })).body.items).toEqual([moved.body])
  expect((await send('invites.list')).body.items).toEqual([])
  expect((await send('invites.delete', { params: { id: made.id } })).status).toBe(204)
  expect((await send('plan_invites.list', { params })).body.items).toEqual([])
})

test('an invite to an archived plan gets no other address', async () => {
  const { send, notify } = await setUp()
  const plan = await notify.plan({ network: '1', name: 'Patron' })
  const { body: made } = await send('plan_invites.create', { params: { plan_id: plan.id }, query: { email } })
  await send('plans.archive', { params: { id: plan.id } })
  const change = (body: object) => send('invites.update', { params: { id: made.id }, body })
  expect(await change({ recipient_email: 'kj@example.org' })).toMatchObject({
    status: 422,
    body: { error: 'The plan is archived and takes no more members' },
  })
  expect((await change({ recipient_first_name: 'Kate' })).status).toBe(200)
})

test('a plus in an address that was not percent-encoded is a plus', async () => {
  const { community, token, invite, notify } = await setUp()
  const { body: made } = await invite({ recipient_email: 'k+j@example.org' })
  const ask = (method: string, path: string) =>
    request(community, method, `/admin/v1/networks/1${path}`, { headers: { authorization: `Bearer ${token}` } })
  expect((await ask('GET', '/invites?email=k+j@example.org')).body.items).toEqual([made])
  const plan = await notify.plan({ network: '1', name: 'Patron' })
  const invited = await ask('POST', `/plans/${plan.id}/invites?email=d+v@example.org`)
  expect(invited).toMatchObject({ status: 200, body: { recipient_email: 'd+v@example.org' } })
})
