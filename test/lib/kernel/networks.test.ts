import { expect, test } from 'vitest'
import type { Community } from '../../../lib/index.ts'
import { createTestCommunity } from '../../support/community.ts'

const raw = async (community: Community, path: string, token: string) => {
  const response = await community.fetch(
    new Request(`https://api.test${path}`, { headers: { authorization: `Bearer ${token}` } }),
  )
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() }
}

const other = { title: 'Other', owner: { email: 'olga@example.org', first_name: 'Olga', last_name: 'Other' } }

test('a network is addressed by its id or by its subdomain', async () => {
  const { community, token } = await createTestCommunity()
  const byId = await raw(community, '/admin/v1/networks/1/', token)
  const bySubdomain = await raw(community, '/admin/v1/networks/demo/', token)
  expect(byId).toMatchObject({ status: 200 })
  expect(bySubdomain).toEqual(byId)
})

test('a token of another network gets, byte for byte, the response of a network that does not exist', async () => {
  const { community } = await createTestCommunity()
  const { network } = await community.networks.create({ ...other, subdomain: 'other' })
  const { token } = await community.keys.create({ network: network.id, name: 'other', scopes: ['*'] })
  const missing = await raw(community, '/admin/v1/networks/2/members', token)
  expect(missing).toEqual({
    status: 404,
    headers: {
      'cache-control': 'no-store',
      'content-length': '29',
      'content-type': 'application/json; charset=utf-8',
      'x-content-type-options': 'nosniff',
    },
    text: '{"error":"Network not found"}',
  })
  for (const name of ['1', 'demo', 'nothing-here', '18446744073709551615', '01', 'DEMO', '%00', 'a%2fb'])
    expect(await raw(community, `/admin/v1/networks/${name}/members`, token), name).toEqual(missing)
})

test('even a token without scopes reads nothing of another network', async () => {
  const { community, newToken } = await createTestCommunity()
  const token = await newToken(['tags:read'])
  await community.networks.create({ ...other, subdomain: 'other' })
  expect((await raw(community, '/admin/v1/networks/other/members', token)).status).toBe(404)
  expect((await raw(community, '/admin/v1/networks/none/members', token)).status).toBe(404)
})

test('nothing of one network can be seen or changed from another', async () => {
  const { community, send } = await createTestCommunity()
  const { network } = await community.networks.create({ ...other, subdomain: 'other' })
  const tag = await community.call('tags.create', { network: network.id, body: { title: 'Theirs' } })
  expect((await send('tags.list')).body.items).toEqual([])
  expect((await send('tags.show', { params: { id: tag.id } })).status).toBe(404)
  expect((await send('tags.update', { params: { id: tag.id }, body: { title: 'Ours' } })).status).toBe(404)
  expect((await community.call('tags.show', { network: 'other', params: { id: tag.id } })).title).toBe('Theirs')
})

test('a subdomain must be well-formed and free', async () => {
  const { community } = await createTestCommunity()
  for (const subdomain of ['demo', '', 'a', '1up', 'Upper', 'with space', 'ä', '-x', `a${'b'.repeat(63)}`])
    await expect(community.networks.create({ ...other, subdomain }), subdomain).rejects.toMatchObject({ status: 422 })
  await expect(community.networks.create({ ...other, subdomain: 'a-1' })).resolves.toMatchObject({
    network: { subdomain: 'a-1' },
  })
})
