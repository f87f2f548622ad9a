/** The pages of networks. */
import { expect, test } from 'vitest'
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
