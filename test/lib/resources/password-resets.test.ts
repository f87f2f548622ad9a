import { expect, test } from 'vitest'
import { createTestCommunity, nobody } from '../../support/community.ts'
import { neighbour, newMember } from '../../support/records.ts'

test('the host is to mail a password reset, at the address itself', async () => {
  const test = await createTestCommunity()
  const { id } = await newMember(test, 'grace', { send_welcome_email: false })
  const { body: member } = await test.send('members.show', { params: { id } })
  test.newEvents()
  const params = { member_id: id }
  expect(await test.send('password_resets.create', { params })).toMatchObject({ status: 204, body: undefined })
  expect(test.events('host').map(({ event_type, payload }) => [event_type, payload])).toEqual([
    ['PasswordResetEmailRequestedHook', { member, email: 'grace@example.org', network_id: '1' }],
  ])
  expect(test.newEvents()).toEqual([])
})

test('no one is mailed for a member who is not there, has left, or is of another network', async () => {
  const test = await createTestCommunity()
  const gone = await newMember(test, 'gone', { send_welcome_email: false })
  await test.send('members.delete', { params: { id: gone.id } })
  const { owner } = await neighbour(test)
  for (const member_id of [nobody, gone.id, owner.id])
    expect(await test.send('password_resets.create', { params: { member_id } })).toMatchObject({
      status: 404,
      body: { error: 'Member not found' },
    })
  expect(test.events('host')).toEqual([])
})
