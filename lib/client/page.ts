/** Pages of lists, in each envelope that servers of this API send. */
import { InvalidAnswer } from './errors.ts'
import type { Received } from './send.ts'

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly links: {
    /** The address of this page. */
    readonly self: string
    /** The address of the next page, for `list({ from })`; `null` on the last page. */
    readonly next: string | null
  }
  readonly status: number
  readonly headers: Headers
  readonly requestId: string | undefined
}

/** The page size of the interface. */
const defaultPerPage = 25

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null
const textOrNull = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** The next page by its number, if this one is full: for a list without links. */
function nextByNumber(url: string, count: number): string | null {
  const next = new URL(url)
  const [page, perPage] = ['page', 'per_page'].map((name) => Number(next.searchParams.get(name) ?? 0))
  if (count === 0 || count < (perPage || defaultPerPage)) return null
  next.searchParams.set('page', String((page || 1) + 1))
  return next.href
}

/** The link to the next page in a `Link` header. */
const linkIn = (headers: Headers): string | null =>
  /<([^>]*)>\s*;[^,]*\brel="?next\b/i.exec((headers.get('link') ?? '').slice(0, 8192))?.[1] ?? null

/**
 * Reads a page: `{ items, links }`, or the records alone.
 * @param url the address that was asked
 * @throws InvalidAnswer if it is neither
 */
export function readPage<Item>(url: string, { status, headers, requestId, body }: Received): Page<Item> {
  const items = Array.isArray(body) ? body : isObject(body) ? (body['items'] ?? body['data']) : undefined
  if (!Array.isArray(items))
    throw new InvalidAnswer(`GET ${new URL(url).pathname}: the answer is no list of records`, {
      ...{ code: 'invalid_answer', status, headers, requestId, body },
    })
  const links = isObject(body) && isObject(body['links']) ? body['links'] : undefined
  const next = links ? textOrNull(links['next']) : (linkIn(headers) ?? nextByNumber(url, items.length))
  return { items, links: { self: textOrNull(links?.['self']) ?? url, next }, status, headers, requestId }
}
