import { expect, test } from 'vitest'
import { createTestCommunity } from '../../support/community.ts'
import { demo, newMember, now } from '../../support/records.ts'

test('the token’s owner is shown flat and nested, with the network', async () => {
  const { send, owner } = await createTestCommunity()
  const shown = await send('me.show')
  expect(shown.status).toBe(200)
  expect(shown.body).toEqual({
    id: owner.id,
    name: 'Ada Host',
    email: '',
    network_id: '1',
    role: 'host',
    created_at: now,
    user: {
      id: owner.id,
      created_at: now,
      updated_at: now,
      name: 'Ada Host',
      email: '',
      short_bio: '',
      admin: true,
      last_visited_at: null,
    },
    network: demo,
  })
})

test('each token shows its own owner', async () => {
  const test = await createTestCommunity()
  const member = await newMember(test, 'grace', { role: 'moderator' })
  const { token } = await test.community.keys.create({
    network: test.network.id,
    name: 'of Grace',
    scopes: ['me:read'],
    member_id: member.id,
  })
  const shown = await test.sendAs(token)('me.show')
  expect(shown.body).toMatchObject({ id: member.id, role: 'moderator', user: { id: member.id, admin: false } })
})
