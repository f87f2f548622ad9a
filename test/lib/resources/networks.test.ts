import { expect, test } from 'vitest'
import { createTestCommunity, request } from '../../support/community.ts'
import { demo, neighbour } from '../../support/records.ts'

test.each(['/1', '/1/', '/demo', '/demo/'])('the network responds at %s', async (path) => {
  const { community, token } = await createTestCommunity()
  const headers = { authorization: `Bearer ${token}` }
  const shown = await request(community, 'GET', `/admin/v1/networks${path}`, { headers })
  expect(shown.status).toBe(200)
  expect(shown.body).toEqual(demo)
})

test('a network of others looks like none at all', async () => {
  const test = await createTestCommunity()
  const { network } = await neighbour(test)
  const headers = { authorization: `Bearer ${test.token}` }
  for (const name of [network.id, 'neighbour', '4711', 'nowhere']) {
    const response = await request(test.community, 'GET', `/admin/v1/networks/${name}/`, { headers })
    expect([response.status, response.body]).toEqual([404, { error: 'Network not found' }])
  }
})
