/** Lists, for every route that returns one: pages, links, order (interface.md, 3). */
import { afterAll, expect, test } from 'vitest'
import { isPaged } from '../../lib/fields.ts'
import { request } from '../support/community.ts'
import type { Json } from '../support/json.ts'
import { createSeededCommunity } from '../support/seed.ts'
import { exampleOf, pathOf, routesWhere, sendExample } from './support.ts'

const network = await createSeededCommunity()
afterAll(() => expect(network.faults).toEqual([]))

const lists = routesWhere(({ route }) => route.method === 'GET' && isPaged(route.operation.returns))
// The seed's events start in the order of their ids.
const newestFirst = ['posts.list', 'polls.list', 'events.list']
/** Of the answers of a member to one field there is one record at most. */
const shortLists: Readonly<Record<string, number>> = { 'answers.list': 1 }

const get = (url: string) =>
  request(network.community, 'GET', url.replace('https://api.test', ''), {
    headers: { authorization: `Bearer ${network.token}` },
  })

const idOf = (item: Json): number => Number(item.id ?? item.subscription?.id ?? item.purchase?.id)

test.each(lists)('%s gives every record once, in order, on pages of one, and marks the last page', async (id) => {
  const whole = (await sendExample(network, id, { query: { per_page: '100' } })).body
  expect(whole.items.length).toBeGreaterThanOrEqual(shortLists[id] ?? 3)
  expect(whole.links.next).toBeNull()
  const ids: number[] = whole.items.map(idOf)
  const sorted = ids.toSorted((a, b) => (newestFirst.includes(id) ? b - a : a - b))
  expect(ids).toEqual(sorted)
  expect(new Set(ids).size).toBe(ids.length)

  const query = { ...exampleOf(id).query, per_page: '1', kept: 'a b&c=d' }
  const items: unknown[] = []
  let pages = 0
  let next: string | null = `https://api.test${pathOf(exampleOf(id))}?${new URLSearchParams(query)}`
  while (next !== null && pages < 500) {
    const page = await get(next)
    expect(page.status).toBe(200)
    expect(page.body.links.self).toBe(next)
    items.push(...page.body.items)
    pages++
    next = page.body.links.next
    if (next !== null) {
      const url = new URL(next)
      expect(url.origin).toBe('https://api.test')
      expect(url.pathname).toBe(pathOf(exampleOf(id)))
      expect(Object.fromEntries(url.searchParams)).toEqual({ ...query, page: String(pages + 1), after: expect.any(String) })
    }
  }
  expect(items).toEqual(whole.items)
  expect(pages).toBe(whole.items.length)
})

test.each(lists)('%s finds a page by its number alone', async (id) => {
  const { items } = (await sendExample(network, id)).body
  for (const [index, item] of items.entries())
    expect((await sendExample(network, id, { query: { page: String(index + 1), per_page: '1' } })).body.items).toEqual([item])
  const beyond = await sendExample(network, id, { query: { page: String(items.length + 1), per_page: '1' } })
  expect(beyond.body).toEqual({ items: [], links: { self: expect.any(String), next: null } })
})

test.each(lists)('%s refuses pages that are no whole number from 1', async (id) => {
  for (const name of ['page', 'per_page'])
    for (const value of ['0', '-1', 'abc', '1e9', '1.5', '', ' 1', '0x10', '999999999999999999999']) {
      const answer = await sendExample(network, id, { query: { [name]: value } })
      expect({ name, value, status: answer.status, body: answer.body }).toEqual({
        name,
        value,
        status: 400,
        body: { error: `${name} must be a whole number from 1` },
      })
    }
  const after = await sendExample(network, id, { query: { after: 'abc' } })
  expect({ status: after.status, body: after.body }).toEqual({
    status: 400,
    body: { error: 'after must be copied unchanged from links.next' },
  })
})

test.each(lists)('%s takes any uint64 for a page, and more than 100 records for 100', async (id) => {
  const { items } = (await sendExample(network, id)).body
  for (const page of ['1000000000', '9007199254740993', '18446744073709551615'])
    expect((await sendExample(network, id, { query: { page } })).body).toEqual({
      items: [],
      links: { self: expect.stringContaining(`page=${page}`), next: null },
    })
  for (const per_page of ['100', '101', '200', '18446744073709551615'])
    expect((await sendExample(network, id, { query: { per_page } })).body.items).toEqual(items)
})

test.each(lists)('%s ignores unknown query parameters', async (id) => {
  const query = { unknown: '1', __proto__x: 'y', 'a[]': 'b', constructor: 'c' }
  const answer = await sendExample(network, id, { query })
  expect(answer.status).toBe(200)
  expect(answer.body.items).toEqual((await sendExample(network, id)).body.items)
})
