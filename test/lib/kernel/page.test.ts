import { expect, test } from 'vitest'
import { segments } from '../../../lib/storage/tables/custom-fields.ts'
import { createTestCommunity, request, type TestCommunity } from '../../support/community.ts'
import type { Json } from '../../support/json.ts'

const withTags = async (count: number) => {
  const test = await createTestCommunity()
  for (let index = 1; index <= count; index++) await test.send('tags.create', { body: { title: `Tag ${index}` } })
  return test
}
const titles = ({ body }: { body: Json }): string[] => body.items.map(({ title }: Json) => title)
const follow = ({ community, token }: TestCommunity, url: string) =>
  request(community, 'GET', url.replace('https://api.test', ''), { headers: { authorization: `Bearer ${token}` } })

test('a page has 25 records unless the request names a number, and at most 100', async () => {
  const { send } = await withTags(103)
  const size = async (query: Record<string, string>) => titles(await send('tags.list', { query })).length
  expect(await size({})).toBe(25)
  expect(await size({ per_page: '7' })).toBe(7)
  expect(await size({ per_page: '100' })).toBe(100)
  expect(await size({ per_page: '101' })).toBe(100)
  expect(await size({ per_page: '18446744073709551615' })).toBe(100)
  expect(await size({ per_page: '100', page: '2' })).toBe(3)
  expect(await size({ page: '5' })).toBe(3)
  expect(await size({ page: '6' })).toBe(0)
})

test('a last page that is full has no next one', async () => {
  const { send } = await withTags(4)
  expect((await send('tags.list', { query: { per_page: '4' } })).body.links.next).toBeNull()
  expect((await send('tags.list', { query: { per_page: '2', page: '2' } })).body.links.next).toBeNull()
  expect((await send('tags.list', { query: { per_page: '3' } })).body.links.next).not.toBeNull()
})

test('a list without records has no next page', async () => {
  const { send } = await createTestCommunity()
  expect((await send('tags.list')).body).toEqual({
    items: [],
    links: { self: 'https://api.test/admin/v1/networks/1/tags', next: null },
  })
})

test('links keep every parameter as it was sent, even twice', async () => {
  const test = await withTags(2)
  const page = await follow(test, '/admin/v1/networks/demo/tags/?per_page=1&x=1&x=2&y=a%20b%26c&z')
  expect(page.body.links.self).toBe('https://api.test/admin/v1/networks/demo/tags/?per_page=1&x=1&x=2&y=a%20b%26c&z')
  const next = new URL(page.body.links.next)
  expect(next.pathname).toBe('/admin/v1/networks/demo/tags/')
  expect([...next.searchParams]).toEqual([
    ['per_page', '1'],
    ['x', '1'],
    ['x', '2'],
    ['y', 'a b&c'],
    ['z', ''],
    ['page', '2'],
    ['after', page.body.items[0].id],
  ])
})

test('who follows the links sees each record once, though others come and go in the meantime', async () => {
  const test = await withTags(6)
  const all = (await test.send('tags.list')).body.items
  const first = await test.send('tags.list', { query: { per_page: '2' } })
  await test.storage.transaction(async (tx) => {
    await tx.remove(segments, all[0].id)
    await tx.remove(segments, all[3].id)
  })
  await test.send('tags.create', { body: { title: 'Tag 7' } })
  const second = await follow(test, first.body.links.next)
  const third = await follow(test, second.body.links.next)
  expect([first, second, third].map(titles)).toEqual([
    ['Tag 1', 'Tag 2'],
    ['Tag 3', 'Tag 5'],
    ['Tag 6', 'Tag 7'],
  ])
  expect(third.body.links.next).toBeNull()
})

test('a place to continue from that no record has is no mistake', async () => {
  const { send } = await withTags(2)
  expect(titles(await send('tags.list', { query: { after: '9007199254740991' } }))).toEqual([])
  expect(titles(await send('tags.list', { query: { after: '0' } }))).toEqual(['Tag 1', 'Tag 2'])
})

test('a page too far away for any storage is empty', async () => {
  const { send } = await withTags(1)
  for (const page of ['9007199254740991', '18446744073709551615'])
    expect((await send('tags.list', { query: { page, per_page: '100' } })).body.items).toEqual([])
})
