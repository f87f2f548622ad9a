/** Responses that are longer than an agent can take: pages, records, and what a change returns. */
import type { Client as ProtocolClient } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { callTool } from '../../../adapters/mcp/call.ts'
import { isList } from '../../../adapters/mcp/schema.ts'
import { toolsOf } from '../../../adapters/mcp/tools.ts'
import { createClient } from '../../../lib/client/index.ts'
import { operations } from '../../../lib/operations.ts'
import { exampleOf } from '../../contract/support.ts'
import { call, clientOf } from '../../support/mcp.ts'
import { json } from '../../support/scripted-server.ts'

const longest = 200_000

interface Listed {
  readonly items: readonly { readonly id: string; readonly title?: string; readonly description?: string }[]
  readonly next_cursor: string | null
  readonly shortened?: string
}

/** Walks a list as an agent does. */
async function pagesOf(client: ProtocolClient, name: string, first: Record<string, unknown> = {}, more = {}) {
  const pages: Listed[] = []
  for (let given = first; ; ) {
    const { isError, text, data } = await call(client, name, given)
    expect({ isError, isLong: text.length > longest }).toEqual({ isError: false, isLong: false })
    const page = data as Listed
    pages.push(page)
    if (page.next_cursor === null) return pages
    given = { cursor: page.next_cursor, ...more }
  }
}

async function withPosts(lengths: readonly number[], text = 'x') {
  const connected = await clientOf({ write: ['posts'] })
  const { id: space_id } = await connected.api.spaces.create({ name: 'Colours' })
  for (const [turn, length] of lengths.entries())
    await connected.api.posts.create({ space_id, title: `Post ${turn + 1}`, description: text.repeat(length) })
  // Newest first.
  return { ...connected, space_id, titles: lengths.map((_, turn) => `Post ${turn + 1}`).reverse() }
}

test('a list of long posts is walked to its end, in pages that fit, with the cursor alone', async () => {
  const { client, titles } = await withPosts(Array.from({ length: 60 }, (_, turn) => (turn % 2 ? 8500 : 10)))
  const pages = await pagesOf(client, 'posts_list')
  expect(pages.flatMap(({ items }) => items.map(({ title }) => title))).toEqual(titles)
  expect(pages.length).toBeLessThan(5)
  expect(pages[0]?.next_cursor).toContain('per_page=25')
})

test('a limit goes before that of the cursor, and the limit of the first page holds for the others', async () => {
  const { client, titles } = await withPosts(Array.from({ length: 12 }, () => 10))
  const sizes = async (first: object, more: object) =>
    (await pagesOf(client, 'posts_list', { ...first }, more)).map(({ items }) => items.length)
  expect(await sizes({ limit: 5 }, {})).toEqual([5, 5, 2])
  expect(await sizes({ limit: 2 }, { limit: 7 })).toEqual([2, 7, 3])
  expect(await sizes({ limit: '2' }, { limit: '7' })).toEqual([2, 7, 3])
  expect(titles).toHaveLength(12)
})

test('a record that is too long alone is cut and says so, and the list goes on behind it', async () => {
  const { client, titles } = await withPosts([10, 100_000, 10], '"')
  const pages = await pagesOf(client, 'posts_list')
  const items = pages.flatMap((page) => page.items)
  expect(items.map(({ title }) => title)).toEqual(titles)
  expect(items[1]?.description).toMatch(/^"{50000}… \[cut: 50000 of 100000 characters\]$/)
  const cut = pages.find(({ shortened }) => shortened !== undefined)
  expect(cut?.shortened).toMatch(
    /^The response had 20\d{4} characters, more than 200000: long texts end with `\[cut: … characters\]`.*`GET \/posts\/?` of the API\. Never write a text back that was cut\.$/,
  )
  const shown = await call(client, 'posts_show', { id: items[1]?.id })
  expect(shown).toMatchObject({ isError: false, data: { title: 'Post 2', shortened: expect.any(String) } })
})

test('a change that was made is never an error, however long its record is', async () => {
  const { client, api, space_id } = await withPosts([])
  const description = '"'.repeat(100_000)
  const made = await call(client, 'posts_create', { body: { space_id, title: 'Quotes', description } })
  const { id, shortened } = made.data as { id: string; shortened: string }
  expect({ isError: made.isError, id }).toEqual({ isError: false, id: (await api.posts.list()).items[0]?.id })
  expect(shortened).toContain("The change was made: don't repeat it.")
  const updated = await call(client, 'posts_update', { id, body: { title: 'More quotes' } })
  expect(updated).toMatchObject({ isError: false, data: { id, title: 'More quotes' } })
  expect((await api.posts.show(id)).description).toHaveLength(100_000)
})

/** A server whose lists have 30 records of 15,000 characters, and one of 300,000; and whose other responses are as long. */
const long = (request: Request): Response => {
  const { pathname, searchParams } = new URL(request.url)
  const record = (id: number) => ({ id: String(id), name: (id === 17 ? 'é"' : 'x').repeat(id === 17 ? 150_000 : 15_000) })
  if (request.headers.get('x-list') === null)
    return json({ ...record(17), more: Array.from({ length: 5000 }, (_, id) => ({ id })) })
  const [page, size] = [Number(searchParams.get('page') ?? 1), Number(searchParams.get('per_page') ?? 25)]
  const start = (page - 1) * size
  const items = Array.from({ length: Math.max(0, Math.min(size, 31 - start)) }, (_, at) => record(start + at + 1))
  return json({ items, links: { next: start + size < 31 ? `${pathname}?page=${page + 1}&per_page=${size}` : null } })
}

const tools = toolsOf(operations, { write: ['*'] }, (option) => option)

// `collections_order` returns a whole list, and has a test of its own.
const ofRecords = tools.filter(({ name }) => name !== 'collections_order')

test.each(ofRecords.map((tool) => [tool.name, tool] as const))('%s is never an error for its length', async (_name, tool) => {
  const { operation } = tool
  const fetch = (request: Request) => {
    if (isList(operation)) request.headers.set('x-list', 'yes')
    return long(request)
  }
  const client = createClient({ baseUrl: 'https://api.test', network: 1, token: 'x', fetch })
  const { params, query, body } = exampleOf(operation.id)
  const given = { ...params, ...query, ...(operation.body ? { body } : {}) }
  const signal = new AbortController().signal
  const ids: string[] = []
  for (let asked: Record<string, unknown> = given; ; ) {
    const { isError, structuredContent, content } = await callTool(client, tool, asked, signal)
    expect({ isError, isLong: (content[0]?.text.length ?? 0) > longest }).toEqual({ isError: undefined, isLong: false })
    if (!isList(operation)) {
      expect(structuredContent).toMatchObject({ id: '17', shortened: expect.any(String) })
      return
    }
    const { items, next_cursor } = structuredContent as unknown as Listed
    ids.push(...items.map(({ id }) => id))
    if (next_cursor === null) break
    asked = { ...params, cursor: next_cursor }
  }
  expect(ids).toEqual(Array.from({ length: 31 }, (_, at) => String(at + 1)))
})

test('a whole list that a change returns is cut after its first entries', async () => {
  const tool = tools.find(({ name }) => name === 'collections_order')
  if (!tool) throw new Error('there is no such tool')
  const items = Array.from({ length: 20_000 }, (_, id) => ({ id: String(id), name: `Space ${id}` }))
  const fetch = () => json({ items, links: { self: 'x', next: null } })
  const client = createClient({ baseUrl: 'https://api.test', network: 1, token: 'x', fetch })
  const { structuredContent } = await callTool(client, tool, { id: '1', body: { spaces: [] } }, new AbortController().signal)
  expect(structuredContent).toEqual({ shortened: expect.any(String), items: items.slice(0, 1000), next_cursor: null })
})
