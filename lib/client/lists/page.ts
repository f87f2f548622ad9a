/** Pages of lists, in each envelope that servers of this API send. */
import { InvalidResponse } from '../errors.ts'
import type { ReceivedResponse } from '../send.ts'
import { linkIn, maxLinkHeader } from './link-header.ts'

/** One page of a list. */
export interface Page<Item> {
  /** At most `per_page` records, in the order of the list. */
  readonly items: readonly Item[]
  /** Where this page and the next one are. */
  readonly links: {
    /** The address of this page. */
    readonly self: string
    /** The address of the next page, for `list({ from })`; `null` on the last page. */
    readonly next: string | null
  }
  /** The numbers of the whole list, with `count: true`. */
  readonly meta?: PageMeta
  /** The HTTP status of the response. */
  readonly status: number
  /** The headers of the response. */
  readonly headers: Headers
  /** The id under which the server has logged the request; `undefined` if it sent none. */
  readonly requestId: string | undefined
}

/** Numbers of a list. */
export interface PageMeta {
  /** The page, from 1. */
  readonly current_page: number
  /** Records on a page. */
  readonly per_page: number
  /** Records on all pages. */
  readonly total_count: number
  /** Pages with these records. */
  readonly total_pages: number
  /** Set if there are more records than `total_count`. */
  readonly total_count_capped?: true
}

export interface ReadPage<Item> {
  readonly page: Page<Item>
  /** The server sends no links: the one to the next page is made from the number of this page. */
  readonly isGuess: boolean
}

export const defaultPerPage = 25
export const largestPage = 100

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null
const textOrNull = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** The next page by its number, if this one is full: for a list without links. */
function nextByNumber(url: string, count: number): string | null {
  const next = new URL(url)
  const [page, perPage] = ['page', 'per_page'].map((name) => Number(next.searchParams.get(name) ?? 0))
  if (count === 0 || count < (perPage || defaultPerPage)) return null
  // More records than a page may have: the server sends the whole list.
  if (count > largestPage || (perPage && count > perPage)) return null
  next.searchParams.set('page', String((page || 1) + 1))
  return next.href
}

/**
 * Reads a page: `{ items, links }`, or the records alone.
 * @param url the address that was requested
 * @throws InvalidResponse if it is neither, for a link that is no address, and for a header of links that is too long
 */
export function readPage<Item>(url: string, { status, headers, requestId, body }: ReceivedResponse): ReadPage<Item> {
  const items = Array.isArray(body) ? body : isObject(body) ? (body['items'] ?? body['data']) : undefined
  const invalid = (sentence: string): InvalidResponse =>
    new InvalidResponse(`GET ${new URL(url).pathname}: ${sentence}`, {
      ...{ code: 'invalid_response', status, headers, requestId, body },
    })
  if (!Array.isArray(items)) throw invalid('the response is no list of records')
  const links = isObject(body) && isObject(body['links']) ? body['links'] : undefined
  const header = links ? '' : (headers.get('link') ?? '')
  if (header.length > maxLinkHeader) throw invalid(`the header Link is longer than ${maxLinkHeader} characters`)
  const given = links ? textOrNull(links['next']) : linkIn(header, 'next')
  if (given !== null && !URL.parse(given, url)) throw invalid('the link to the next page is no address')
  const guess = links || given !== null ? null : nextByNumber(url, items.length)
  const meta = isObject(body) && isObject(body['meta']) ? { meta: body['meta'] as unknown as PageMeta } : {}
  const to = { self: textOrNull(links?.['self']) ?? url, next: given ?? guess }
  const page = { items, links: to, ...meta, status, headers, requestId }
  return { page, isGuess: guess !== null }
}
