/** Pages of a list tool: their size and their cursor, and as many records as an agent can take. */
import type { PageMeta } from '../../lib/client/lists/page.ts'
import { resized } from '../../lib/client/lists/smaller-page.ts'
import { defaultPage, largestPage, longestCursor } from './schema.ts'
import { fitting } from './shorten.ts'
import type { Tool } from './tool.ts'

type Arguments = Readonly<Record<string, unknown>>

export interface ListPage {
  readonly items: readonly unknown[]
  readonly links: { readonly next: string | null }
  /** With `count`. */
  readonly meta?: Pick<PageMeta, 'total_count' | 'total_count_capped'>
}

/**
 * Whether a text is the query of a next page. The API ignores unknown parameters, and would return the first page for a damaged
 * one.
 */
function isCursor(cursor: unknown, { query = {} }: Tool['operation']): cursor is string {
  if (typeof cursor !== 'string' || cursor.length > longestCursor) return false
  const names = [...new URLSearchParams(cursor).keys()]
  const known = ['page', 'per_page', 'after', ...Object.keys(query)]
  return names.includes('page') && names.every((name) => known.includes(name))
}

/** @throws TypeError that names the rule */
function sizeOf(limit: unknown): number | undefined {
  if (limit === undefined || limit === null) return undefined
  const size = typeof limit === 'string' && /^\d{1,3}$/.test(limit) ? Number(limit) : limit
  if (typeof size === 'number' && Number.isInteger(size) && size >= 1 && size <= largestPage) return size
  throw new TypeError(`limit must be a whole number from 1 to ${largestPage}`)
}

/**
 * The page that an agent requests.
 * @throws TypeError that names the argument and the rule
 */
function requestedPage(operation: Tool['operation'], { limit, cursor, ...query }: Arguments) {
  const given = sizeOf(limit)
  if (cursor === undefined || cursor === null) {
    const queryOf = (size: number): Arguments => ({ ...query, per_page: size })
    return { size: given ?? defaultPage, queryOf }
  }
  if (!isCursor(cursor, operation)) throw new TypeError('cursor must be the text in `next_cursor` of the previous response')
  const search = new URLSearchParams(cursor)
  const size = Number(search.get('per_page')) || defaultPage
  return {
    size: given ?? Math.min(size, largestPage),
    queryOf: (size: number): Arguments => ({ from: `?${resized(search, size)}` }),
  }
}

/** The cursor of a next page. The records were counted for the first one. */
function cursorOf(next: string, size: number): string {
  const { searchParams } = new URL(next, 'https://localhost')
  searchParams.delete('count')
  return String(resized(searchParams, size))
}

/** Without the numbers of pages, whose size an agent doesn't choose alone. */
const totalOf = (meta: ListPage['meta']) =>
  meta && { total_count: meta.total_count, ...(meta.total_count_capped ? { total_count_capped: true } : {}) }

/**
 * Reads a page. If its records are too long for an agent, as many of them as fit come, and the cursor leads to the rest.
 * @throws TypeError that names a wrong argument
 */
export async function readPageFor(
  { operation }: Tool,
  given: Arguments,
  read: (query: Arguments) => Promise<ListPage>,
): Promise<Record<string, unknown>> {
  const { size, queryOf } = requestedPage(operation, given)
  for (let most = size; ; ) {
    const { items, links, meta } = await read(queryOf(most))
    // Only a page of its own has a cursor to the records behind it: the order need not be that of the ids.
    const next_cursor = links.next === null ? null : cursorOf(links.next, size)
    const fits = fitting(items, 100 + String(next_cursor).length)
    // A server that ignores the size never sends fewer.
    if (fits === items.length || most === 1 || items.length > most) return { items, next_cursor, ...totalOf(meta) }
    most = Math.max(1, fits)
  }
}
