/** The pages of networks. */
import { expect, test } from 'vitest'
import { networks } from '../../../lib/storage/tables/administration.ts'
import { createTestCommunity } from '../../support/community.ts'

async function createNetworks(count: number) {
  const { community } = await createTestCommunity()
  const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: '' }
  for (let id = 2; id <= count; id++)
    await community.networks.create({ id, subdomain: `network-${id}`, title: `Network ${id}`, owner })
  return community
}

test('networks come in pages, by their ids as numbers', async () => {
  const community = await createNetworks(11)
  const all = await community.networks.list()
  const first = await community.networks.page({ limit: 9 })
  expect(first).toEqual({ items: all.slice(0, 9), next: '9' })
  expect(await community.networks.page({ limit: 9, after: first.next ?? '' })).toEqual({ items: all.slice(9), next: null })
  expect(await community.networks.page({ limit: 11 })).toEqual({ items: all, next: null })
})

test.each([{ limit: 0 }, { limit: 101 }, { limit: 1.5 }, { after: 'x' }])('a page of %j is refused', async (query) => {
  const { community } = await createTestCommunity()
  await expect(community.networks.page(query)).rejects.toMatchObject({ status: 422 })
})

const owner = { email: 'ada@example.org', first_name: 'Ada', last_name: '' }

test.each([
  ['paint-pals-', 'subdomain must not end in a hyphen or begin with xn--: such a name is no host name of its own'],
  ['xn--a', 'subdomain must not end in a hyphen or begin with xn--: such a name is no host name of its own'],
  ['a', 'subdomain must be 2 to 63 characters: a letter, then letters, digits and hyphens, all lower case'],
  ['Paint', 'subdomain must be 2 to 63 characters: a letter, then letters, digits and hyphens, all lower case'],
])('the subdomain %j is refused: %s', async (subdomain, error) => {
  const { community } = await createTestCommunity()
  await expect(community.networks.create({ subdomain, title: 'Pals', owner })).rejects.toMatchObject({
    status: 422,
    body: { error },
  })
})

test.each(['a--b', 'xn-a', 'www', 'a9'])('the subdomain %j is taken', async (subdomain) => {
  const { community } = await createTestCommunity()
  expect((await community.networks.create({ subdomain, title: 'Pals', owner })).network.subdomain).toBe(subdomain)
})

test.each(['paint-pals-', 'xn--a'])('a network that has the subdomain %j keeps it', async (subdomain) => {
  const { community, storage, network } = await createTestCommunity()
  const row = {
    id: '77',
    network_id: '77',
    subdomain,
    title: 'Pals',
    created_at: network.created_at,
    updated_at: network.updated_at,
  }
  await storage.transaction((tx) => tx.insert(networks, { ...network, ...row }))
  expect(await community.networks.find(subdomain)).toMatchObject({ id: '77' })
  expect(await community.networks.update(subdomain, { title: 'Paint Pals' })).toMatchObject({ subdomain, title: 'Paint Pals' })
})
