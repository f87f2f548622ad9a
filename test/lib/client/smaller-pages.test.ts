/** Lists whose pages are larger than the client reads. */
import { expect, test } from 'vitest'
import { createClient } from '../../../lib/client/index.ts'
import { resized } from '../../../lib/client/lists/smaller-page.ts'
import { routes } from '../../../lib/client/routes.ts'
import { exampleOf } from '../../contract/support.ts'
import { json } from '../../support/scripted-server.ts'
import { createSeededCommunity } from '../../support/seed.ts'
import { clientOf } from '../../support/through-client.ts'

const { community, token } = await createSeededCommunity()
const client = clientOf(community, token)
const lists = routes.filter(({ isList, method }) => isList && method === 'GET').map(({ id }) => id)

type Responder = (request: Request) => Response | Promise<Response>
const limited = (maxResponseBytes: number, fetch: Responder = (request) => community.fetch(request)) =>
  createClient({ baseUrl: 'https://api.test', network: 1, token, maxRetries: 0, maxResponseBytes: maxResponseBytes, fetch })

/** A server that links to its pages by their number alone. */
const byNumber: Responder = async (request) => {
  const { items, links } = (await (await community.fetch(request)).json()) as { items: unknown[]; links: { next: string | null } }
  const next = links.next === null ? null : new URL(links.next)
  next?.searchParams.delete('after')
  return json({ items, links: { next } })
}

test.each(lists)('%s is read to its end, though only its largest record fits into a response', async (id) => {
  const { params, query } = exampleOf(id)
  const listed = (from = client) => {
    const list = from.call(id, { params, query })
    if (!('pages' in list)) throw new Error(`${id} is no list`)
    return list
  }
  const whole = await listed().toArray({ limit: 1000 })
  const envelope = 600
  const most = Math.max(0, ...whole.map((record) => JSON.stringify(record).length)) + envelope
  expect(await listed(limited(most)).toArray({ limit: 1000 })).toEqual(whole)
  expect(await listed(limited(most, byNumber)).toArray({ limit: 1000 })).toEqual(whole)
})

/** A server with records of some sizes, by their place from 1. */
function sized(sizes: readonly number[]) {
  const searches: string[] = []
  const fetch: Responder = ({ url }) => {
    const { search, searchParams } = new URL(url)
    searches.push(search)
    const [page, size] = [Number(searchParams.get('page') ?? 1), Number(searchParams.get('per_page') ?? 25)]
    const start = (page - 1) * size
    const items = sizes.slice(start, start + size).map((length, at) => ({ id: String(start + at + 1), text: 'x'.repeat(length) }))
    const next = start + size < sizes.length ? `?per_page=${size}&page=${page + 1}` : null
    return json({ items, links: { next } })
  }
  return { fetch, searches }
}

test('a page that is too large comes as smaller ones, which begin where it began', async () => {
  const { fetch, searches } = sized([...Array.from({ length: 50 }, () => 1), ...Array.from({ length: 50 }, () => 1000)])
  const records = await limited(20_000, fetch).tags.list({ per_page: 50 }).toArray({ limit: 100 })
  expect(records.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, at) => String(at + 1)))
  expect(searches.slice(0, 5)).toEqual([
    '?per_page=50',
    '?per_page=50&page=2',
    '?per_page=25&page=3',
    '?per_page=10&page=6',
    '?per_page=10&page=7',
  ])
  const first = sized(Array.from({ length: 50 }, () => 1000))
  expect((await limited(20_000, first.fetch).tags.list()).items).toHaveLength(12)
})

test('a record that is too large alone is named by its place and the option', async () => {
  const { fetch, searches } = sized([1, 1, 1, 1, 1, 1, 90_000, 1])
  const read: unknown[] = []
  const reading = async (from?: string) => {
    for await (const { id } of limited(20_000, fetch).tags.list(from === undefined ? {} : { from })) read.push(id)
  }
  await expect(reading()).rejects.toMatchObject({
    name: 'InvalidResponse',
    code: 'response_too_large',
    message:
      'GET /admin/v1/networks/1/tags: record 7 of the list, alone on its page, is larger than 20000 bytes (option `maxResponseBytes`)',
  })
  expect(read).toEqual(['1', '2', '3', '4', '5', '6'])
  expect(searches.length).toBeLessThan(15)
  await expect(reading('?page=7&per_page=1&after=66')).rejects.toThrow(
    'tags: the record behind `after=66`, alone on its page, is larger than 20000 bytes',
  )
})

test('a server that sends the whole list for every size is not requested for ever', async () => {
  let requests = 0
  const whole: Responder = () => {
    requests++
    return json({ items: [{ id: '1', text: 'x'.repeat(30_000) }], links: { next: null } })
  }
  await expect(limited(20_000, whole).tags.list().toArray({ limit: 9 })).rejects.toThrow('alone on its page')
  expect(requests).toBe(4)
})

test('a refusal that is too large is no reason for a smaller page', async () => {
  let requests = 0
  const refusing: Responder = () => {
    requests++
    return json({ error: 'x'.repeat(30_000) }, 403)
  }
  await expect(limited(20_000, refusing).tags.list()).rejects.toThrow('the response is larger than 20000 bytes')
  expect(requests).toBe(1)
})

test.each([
  ['per_page=100', 50, 'per_page=50'],
  ['page=3&per_page=100', 50, 'page=5&per_page=50'],
  ['page=3&per_page=25', 12, 'page=6&per_page=10'],
  ['page=2&per_page=97', 48, 'page=98&per_page=1'],
  ['page=2&per_page=97&after=5', 48, 'page=2&per_page=48&after=5'],
  ['page=2', 100, 'page=2&per_page=25'],
  ['page=2&per_page=1000', 50, 'page=3&per_page=50'],
])('the page %s of at most %i records is %s', (search, size, expected) => {
  expect(String(resized(new URLSearchParams(search), size))).toBe(expected)
})
