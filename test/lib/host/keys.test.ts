import { expect, test } from 'vitest'
import { createTestCommunity } from '../../support/community.ts'

test('a page of keys has its limit, and the pages together have every key once', async () => {
  const { community } = await createTestCommunity()
  for (let count = 0; count < 6; count++) await community.keys.create({ network: '1', name: `${count}`, scopes: ['*'] })
  const newest = (await community.keys.list('1')).toReversed()
  const one = await community.keys.page('demo', { limit: 4 })
  expect(one).toEqual({ items: newest.slice(0, 4), next: newest[3]?.id })
  expect(await community.keys.page(1, { limit: 4, after: one.next ?? '' })).toEqual({ items: newest.slice(4), next: null })
  expect(await community.keys.page('1', { limit: 7 })).toEqual({ items: newest, next: null })
})

test('a page of revoked keys reads no more than its windows, and the next one continues', async () => {
  const { community } = await createTestCommunity()
  const [first] = await community.keys.list('1')
  await community.keys.revoke('1', first?.id ?? '')
  for (let count = 0; count < 50; count++) await community.keys.create({ network: '1', name: `${count}`, scopes: ['*'] })
  const page = await community.keys.page('1', { status: 'Revoked', limit: 2 })
  expect([page.items, page.next === null]).toEqual([[], false])
  const rest = await community.keys.page('1', { status: 'Revoked', limit: 2, after: page.next ?? '' })
  expect([rest.items.map(({ id }) => id), rest.next]).toEqual([[first?.id], null])
})

test.each([[{ limit: 0 }], [{ limit: 101 }], [{ limit: 1.5 }], [{ status: 'revoked' }], [{ after: 'x' }]])(
  'the page %j is refused',
  async (query) => {
    const { community } = await createTestCommunity()
    await expect(community.keys.page('1', query as never)).rejects.toMatchObject({ status: 422 })
  },
)

test('one key is found by its id, in its own network alone', async () => {
  const { community } = await createTestCommunity()
  const [key] = await community.keys.list('1')
  expect(await community.keys.find('1', key?.id ?? '')).toEqual(key)
  expect(await community.keys.find('1', 5)).toBeUndefined()
  const owner = { email: 'b@example.org', first_name: 'B', last_name: 'C' }
  await community.networks.create({ id: '2', subdomain: 'other', title: 'Other', owner })
  expect(await community.keys.find('2', key?.id ?? '')).toBeUndefined()
})

test('of any number of first uses of a key one is the first, in each network, for 24 hours', async () => {
  const { community, clock } = await createTestCommunity()
  const use = (network = '1') => community.consumeOnce({ network, key: 'form 5' })
  const many = await Promise.all(Array.from({ length: 8 }, () => use()))
  expect(many.filter(Boolean)).toHaveLength(1)
  const owner = { email: 'b@example.org', first_name: 'B', last_name: 'C' }
  await community.networks.create({ id: '2', subdomain: 'other', title: 'Other', owner })
  expect(await use('2')).toBe(true)
  clock.advance(24 * 60 * 60 * 1000)
  expect([await use(), await use()]).toEqual([true, false])
  await community.giveBack({ network: '1', key: 'form 5' })
  expect([await use(), await use()]).toEqual([true, false])
  await community.giveBack({ network: '1', key: 'never used' })
  await expect(community.consumeOnce({ network: '1', key: '' })).rejects.toMatchObject({ status: 422 })
  await expect(community.giveBack({ network: '1', key: '' })).rejects.toMatchObject({ status: 422 })
})
