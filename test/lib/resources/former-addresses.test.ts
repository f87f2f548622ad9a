/** The addresses of members who have left: who may take them, and what becomes of the one who had them. */
import { expect, test } from 'vitest'
import { createTestCommunity } from '../../support/community.ts'
import { ban } from '../../support/members.ts'
import { idsOf, newMember, newSpace } from '../../support/records.ts'

const email = 'grace@example.org'

async function setUp() {
  const t = await createTestCommunity()
  const grace = await newMember(t, 'grace')
  const alan = await newMember(t, 'alan')
  const take = (address = email) => t.send('members.update', { params: { id: alan.id }, body: { email: address } })
  return {
    ...t,
    ...t.community,
    grace,
    alan,
    take,
    leave: (operation: string) => t.send(operation, { params: { id: grace.id } }),
    holder: async () => (await t.send('members.by_email', { query: { email } })).body.id,
  }
}

test.each(['members.delete', 'members.remove_from_network'])('an address is free after %s', async (operation) => {
  const { leave, take, holder, alan, send, newEvents } = await setUp()
  await leave(operation)
  newEvents()
  expect(await take('Grace@Example.org')).toMatchObject({ status: 200, body: { id: alan.id } })
  expect(newEvents()).toMatchObject([{ event_type: 'MemberUpdatedHook', payload: { member: { id: alan.id } } }])
  expect(await holder()).toBe(alan.id)
  const back = await send('members.create', { body: { email, first_name: 'Grace', last_name: 'Hopper' } })
  expect(back).toMatchObject({ status: 422, body: { error: 'email is already a member of this network' } })
})

test('an address of a removed member may be taken within a space, too', async () => {
  const { leave, alan, send, holder, ...t } = await setUp()
  const space = await newSpace({ send, ...t })
  await send('space_members.create', { params: { space_id: space.id }, query: { user_id: alan.id } })
  await leave('members.remove_from_network')
  const params = { space_id: space.id, user_id: alan.id }
  expect((await send('space_members.update', { params, body: { email } })).status).toBe(200)
  expect(await holder()).toBe(alan.id)
})

test('a removed member whose address was taken comes back as another person', async () => {
  const { leave, take, grace, send, holder, alan, acceptInvite, ...t } = await setUp()
  await leave('members.remove_from_network')
  await take()
  expect((await newMember({ send, ...t }, 'amazing')).id).not.toBe(grace.id)
  expect((await send('members.delete', { params: { id: alan.id } })).status).toBe(204)
  const { body: invite } = await send('invites.create', { body: { recipient_email: email } })
  const again = await acceptInvite({ network: '1', invite: invite.id, first_name: 'Grace' })
  expect([grace.id, alan.id]).not.toContain(again.id)
  expect(await holder()).toBe(again.id)
})

test('a removed member whose address was not taken is the same member when they come back', async () => {
  const { leave, grace, send, ...t } = await setUp()
  await leave('members.remove_from_network')
  expect((await newMember({ send, ...t }, 'grace')).id).toBe(grace.id)
})

test('the address of a banned member stays theirs', async () => {
  const { take, grace, send, newEvents } = await setUp()
  await ban({ send }, grace.id)
  newEvents()
  const error = (field: string) => `${field} belongs to a member who is banned from this network`
  expect(await take('GRACE@example.org')).toMatchObject({ status: 422, body: { error: error('email') } })
  const body = { email, first_name: 'Grace', last_name: 'Hopper' }
  expect(await send('members.create', { body })).toMatchObject({ status: 422, body: { error: error('email') } })
  const invited = await send('invites.create', { body: { recipient_email: email } })
  expect(invited).toMatchObject({ status: 422, body: { error: error('recipient_email') } })
  expect(newEvents()).toEqual([])
})

test('the refusal of an address names the kind of its member', async () => {
  const { take, send, ...t } = await setUp()
  const space = await newSpace({ send, ...t })
  await newMember({ send, ...t }, 'edsger', { member_type: 'limited', space_ids: [space.id] })
  expect((await take()).body).toEqual({ error: 'email is already a member of this network' })
  expect((await take('edsger@example.org')).body).toEqual({ error: 'email is already a limited member of this network' })
})

test('a former member who comes back while their address is taken is in once', async () => {
  const { leave, take, send } = await setUp()
  await leave('members.remove_from_network')
  const body = { email, first_name: 'Grace', last_name: 'Hopper' }
  const responses = await Promise.all([take(), send('members.create', { body }), take()])
  const refused = responses.filter(({ status }) => status === 422)
  expect(refused.map(({ body }) => body.error)).toContain('email is already a member of this network')
  expect(idsOf(await send('members.list', { query: { email } }))).toHaveLength(1)
})
