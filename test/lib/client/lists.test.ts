/** Lists of a client: pages, records, arrays, and how to resume. */
import { expect, test } from 'vitest'
import { createClient, InvalidResponse } from '../../../lib/client/index.ts'
import { routes } from '../../../lib/client/routes.ts'
import { exampleOf } from '../../contract/support.ts'
import { json, scripted } from '../../support/scripted-server.ts'
import { createSeededCommunity } from '../../support/seed.ts'
import { clientOf } from '../../support/through-client.ts'

const { community, token } = await createSeededCommunity()
const client = clientOf(community, token)
const lists = routes.filter(({ isList, method }) => isList && method === 'GET').map(({ id }) => id)

test.each(lists)('%s gives every record, page by page', async (id) => {
  const { params, query } = exampleOf(id)
  const listed = (own: Readonly<Record<string, unknown>> = {}) => {
    const list = client.call(id, { params, query: { ...query, ...own } })
    if (!('pages' in list)) throw new Error(`${id} is no list`)
    return list
  }
  const whole = (await listed({ per_page: 100 })).items
  const seen: unknown[] = []
  for await (const record of listed({ per_page: 1 })) seen.push(record)
  expect(seen).toEqual(whole)
  expect(await listed({ per_page: 2 }).toArray({ limit: 1000 })).toEqual(whole)
  expect(await listed().toArray({ limit: 1 })).toEqual(whole.slice(0, 1))
  const pages: unknown[][] = []
  for await (const { items } of listed({ per_page: 2 }).pages()) pages.push([...items])
  expect(pages.flat()).toEqual(whole)
  const first = await listed({ per_page: 1 })
  if (first.links.next !== null) {
    const rest = client.call(id, { params, query: { from: first.links.next } })
    if (!('pages' in rest)) throw new Error(`${id} is no list`)
    expect(await rest.toArray({ limit: 1000 })).toEqual(whole.slice(1))
  }
})

test('an ordered collection comes whole, with no page behind it', async () => {
  const { body, params } = exampleOf('collections.order')
  const { items, links } = await client.collections.order(params['id'] ?? '', body as { spaces: [] })
  expect({ count: items.length, next: links.next }).toEqual({ count: 3, next: null })
})

test('a server behind a proxy, below a prefix and with numbers as ids, is one like any other', async () => {
  const options = { basePath: '/community', publicUrl: 'https://public.example/api', ids: 'number' } as const
  const { community, token } = await createSeededCommunity(options)
  const origins = new Set<string>()
  const fetch = (request: Request) => {
    origins.add(new URL(request.url).origin)
    return community.fetch(request)
  }
  const inside = createClient({ baseUrl: 'https://inside.example/community/', network: 'demo', token, fetch, ids: 'string' })
  const whole = await inside.members.list().toArray({ limit: 1000 })
  expect(await inside.members.list({ per_page: 2 }).toArray({ limit: 1000 })).toEqual(whole)
  expect((await inside.members.list({ per_page: 2 })).links.next).toMatch(/^https:\/\/public\.example\/api\//)
  expect(await inside.members.show(whole[0]?.id ?? '')).toEqual(whole[0])
  expect([...origins]).toEqual(['https://inside.example'])
})

const linked = (ids: readonly number[], next: string | null = null) =>
  json({ items: ids.map((id) => ({ id })), links: { self: 'https://api.test/x', next } })
const bare = (ids: readonly number[], headers: Readonly<Record<string, string>> = {}) =>
  json(
    ids.map((id) => ({ id })),
    200,
    headers,
  )
const idsOf = async (list: AsyncIterable<{ readonly id: unknown }>): Promise<unknown[]> => {
  const ids: unknown[] = []
  for await (const { id } of list) ids.push(id)
  return ids
}
const searches = (requests: readonly { readonly url: string }[]) => requests.map(({ url }) => new URL(url).search)

test('nothing is sent until a list is used, and an awaited list is requested once', async () => {
  const { client, requests } = scripted([linked([1])])
  const list = client.tags.list()
  expect(requests).toEqual([])
  const [page, again] = await Promise.all([list, list])
  expect(page.items).toEqual([{ id: 1 }])
  expect(again).toBe(page)
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toBe('application/json')
  expect(searches(requests)).toEqual([''])
})

test('going through all records requests large pages, if the query names no size', async () => {
  const { client, requests } = scripted([linked([1]), linked([1]), linked([1]), linked([1])])
  await idsOf(client.tags.list())
  await client.tags.list().toArray({ limit: 7 })
  await client.tags.list().toArray({ limit: 7000 })
  await idsOf(client.tags.list({ per_page: 3 }))
  expect(searches(requests)).toEqual(['?per_page=100', '?per_page=7', '?per_page=100', '?per_page=3'])
})

test('a loop that ends early requests no further page', async () => {
  const { client, requests } = scripted([linked([1, 2], 'https://api.test/tags?page=2')])
  for await (const { id } of client.tags.list()) if (String(id) === '1') break
  expect(requests.length).toBe(1)
})

test('an array has a limit', async () => {
  const { client } = scripted([])
  const list = client.tags.list()
  // @ts-expect-error: the limit is mandatory
  await expect(list.toArray()).rejects.toThrow('tags.list: toArray needs { limit }, a whole number above 0')
  for (const limit of [0, -1, 1.5, Number.POSITIVE_INFINITY]) await expect(list.toArray({ limit })).rejects.toThrow(TypeError)
})

test('a link to another origin is followed on the own server, with its query alone', async () => {
  const { client, requests } = scripted([linked([1], 'https://evil.example/steal?page=2&after=1'), linked([2])])
  expect(await idsOf(client.tags.list())).toEqual([1, 2])
  expect(requests.map(({ url }) => url)).toEqual([
    'https://api.test/admin/v1/networks/1/tags?per_page=100',
    'https://api.test/admin/v1/networks/1/tags?page=2&after=1',
  ])
})

test('a link resumes a list, without other parameters', async () => {
  const { client, requests } = scripted([linked([3])])
  const from = 'https://elsewhere.example/tags?per_page=1&page=3&after=2'
  expect(await idsOf(client.tags.list({ from }))).toEqual([3])
  expect(searches(requests)).toEqual(['?per_page=1&page=3&after=2'])
  expect(() => client.tags.list({ from, per_page: 5 })).toThrow('tags.list: from is a whole link')
  expect(() => client.tags.list({ from: 'http://[' })).toThrow('tags.list: from must be the link of a page')
})

test('an array of records is a list too: the next page has the next number', async () => {
  const { client, requests } = scripted([bare([1, 2]), bare([3, 4]), bare([5])])
  expect(await idsOf(client.tags.list({ per_page: 2 }))).toEqual([1, 2, 3, 4, 5])
  expect(searches(requests)).toEqual(['?per_page=2', '?per_page=2&page=2', '?per_page=2&page=3'])
})

const nextLink = '</tags?page=3&x=1>'
test.each([
  `<https://api.test/tags?page=1>; rel="prev", ${nextLink}; rel="next"`,
  `${nextLink}; title="one, two; three"; rel="next"`,
  `${nextLink}; title="says \\"rel=prev\\", <x>"; rel="next"`,
  `${nextLink}; title=one two; rel=next`,
  `${nextLink};rel=next;title="more"`,
  `${nextLink} ; REL = "last NEXT"`,
  `${nextLink}; rel="next"; rel="prev"`,
  `</tags?page=1>; title="<a>; rel=\\"next\\", <b>"; rel="prev", ${nextLink}; rel=next`,
  `</tags?page=9>; rel="next-archive", </tags?page=8>; title="x"; rev="next", ${nextLink}; rel="next"`,
  `${'</other>; rel="item", '.repeat(600)}${nextLink}; rel="next"`,
])('an array of records may have its next link in a header: %s', async (link) => {
  const { client, requests } = scripted([bare([1], { link }), bare([2])])
  expect(await idsOf(client.tags.list())).toEqual([1, 2])
  expect(searches(requests)[1]).toBe('?page=3&x=1')
})

test.each([
  '',
  'rel="next"',
  `${nextLink}`,
  `${nextLink}; rel="prev"; rel="next"`,
  `${nextLink}; title="; rel=next`,
  '<<>;;=,"',
  '<>; rel=next',
])('a list whose header names no next page ends there: %s', async (link) => {
  const { client, requests } = scripted([bare([1], { link })])
  expect(await idsOf(client.tags.list())).toEqual([1])
  expect(requests.length).toBe(1)
})

test('a header of links that is too long is an invalid response, and never the end of the list', async () => {
  const link = `${'</other>; rel="item", '.repeat(4000)}${nextLink}; rel="next"`
  await expect(idsOf(scripted([bare([1], { link }), bare([2])]).client.tags.list())).rejects.toMatchObject({
    ...{ code: 'invalid_response', message: expect.stringContaining('the header Link is longer than 65536 characters') },
  })
})

test('a server that always sends the whole list is not read for ever', async () => {
  const all = Array.from({ length: 100 }, (_, index) => index)
  expect(await idsOf(scripted([bare(all), bare(all)]).client.tags.list())).toEqual(all)
  expect(await idsOf(scripted([bare([...all, 100])]).client.tags.list())).toEqual([...all, 100])
  expect(await idsOf(scripted([bare([])]).client.tags.list())).toEqual([])
  const next = 'https://api.test/tags?page=2'
  await expect(idsOf(scripted([linked([1], next), linked([2], next)]).client.tags.list())).rejects.toThrow(InvalidResponse)
  const other = 'https://api.test/tags?page=3'
  await expect(idsOf(scripted([linked([1], next), linked([1], other)]).client.tags.list())).rejects.toThrow(
    'leads to the same page',
  )
})

/** A server that never ends: it responds to each request with the next page of a function. */
function endless(pageOf: (number: number) => Response) {
  let number = 0
  const fetch = async () => {
    if (++number > 5000) throw new Error('asked for ever')
    return pageOf(number)
  }
  return {
    client: createClient({ baseUrl: 'https://api.test', network: 1, token: 'secret', maxRetries: 0, fetch }),
    asked: () => number,
  }
}

test.each([
  [2, 8],
  [7, 40],
  [100, 400],
])('links that lead in a circle of %i pages end in an error', async (length, most) => {
  const { client, asked } = endless((number) => linked([number], `https://api.test/tags?page=${number % length}`))
  await expect(idsOf(client.tags.list())).rejects.toMatchObject({
    ...{ name: 'InvalidResponse', code: 'invalid_response', message: 'tags.list: the links to the next pages lead in a circle' },
  })
  expect(asked()).toBeLessThanOrEqual(most)
})

test('the same pages in turn, with a new link each time, end in an error', async () => {
  const { client } = endless((number) => linked([number % 3], `https://api.test/tags?cursor=${number}`))
  await expect(idsOf(client.tags.list())).rejects.toThrow('lead in a circle')
})

test('empty pages without an end are an error, and a few of them are accepted', async () => {
  const { client, asked } = endless((number) => linked([], `https://api.test/tags?cursor=${number}`))
  await expect(client.tags.list().toArray({ limit: 1 })).rejects.toThrow('tags.list: 1000 pages without a record')
  expect(asked()).toBe(1000)
  const sparse = endless((number) =>
    linked(number % 50 === 0 ? [number] : [], number < 2000 ? `https://api.test/tags?cursor=${number}` : null),
  )
  expect(await idsOf(sparse.client.tags.list())).toHaveLength(40)
})

test('a next link that is no address is an invalid response', async () => {
  const list = scripted([linked([1], 'http://[bad')]).client.tags.list()
  await expect(idsOf(list)).rejects.toMatchObject({
    name: 'InvalidResponse',
    message: expect.stringContaining('the next page is no address'),
  })
})

test('records that are nested too deeply to be compared are records', async () => {
  const deep = (number: number) =>
    `{"items":[${'['.repeat(20_000)}${number}${']'.repeat(20_000)}],"links":{"next":${number < 3 ? `"?page=${number}"` : null}}}`
  const { client, asked } = endless((number) => new Response(deep(number)))
  await client.tags.list().toArray({ limit: 9 })
  expect(asked()).toBe(3)
})

test('a last page may leave its next link out', async () => {
  expect(await idsOf(scripted([json({ items: [{ id: 1 }], links: { self: 'x' } })]).client.tags.list())).toEqual([1])
})

test.each(['{}', 'null', '5', '"x"', '{"items":5}', ''])('%s is no list', async (text) => {
  await expect(scripted([new Response(text)]).client.tags.list()).rejects.toThrow('the response is no list of records')
})

test('the order of collections comes back as a page', async () => {
  const order = scripted([linked([2, 1])])
  const page = await order.client.collections.order(5, { spaces: [] } as never)
  expect(page.items).toEqual([{ id: 2 }, { id: 1 }])
})

test.each(['http', 'https'])('a link that names its scheme alone, %s, leads to the next page of that server', async (scheme) => {
  const asked: string[] = []
  const client = createClient({
    ...{ baseUrl: `${scheme}://localhost`, network: '1', token: 'x' },
    async fetch({ url }) {
      asked.push(new URL(url).search)
      const next = asked.length === 1 ? `${scheme}:?page=2` : null
      return json({ items: [{ id: String(asked.length) }], links: { self: url, next } })
    },
  })
  expect(await client.tags.list().toArray({ limit: 10 })).toHaveLength(2)
  expect(asked[1]).toContain('page=2')
})
