/** The wire: the API's address for its callers, and the JSON of a result. */
import type { Page, PageMeta } from '../call.ts'
import { isPaged } from '../fields.ts'
import type { AnyOperation } from '../operation.ts'
import type { RecordWriter } from '../records/json/writer.ts'
import type { Settings } from '../settings.ts'
import { mostCounted, type Paging } from './page.ts'

export const apiRoot = '/admin/v1'

/** The origin of links without a request: in direct calls and notifications. */
export const ownOrigin = ({ publicUrl }: Pick<Settings, 'publicUrl'>): string => publicUrl ?? 'https://localhost'

/** An address as its caller uses it, in two parts; stored files are below the first. */
export interface PublicAddress {
  /** The origin, with the part of the path that a proxy has cut off. */
  readonly origin: string
  readonly path: string
}

/**
 * A path of the API below a public URL.
 * @param publicUrl an origin, or an origin with the path at which callers find the API
 */
export function below(publicUrl: string, basePath: string, path: string): PublicAddress {
  const hasPath = publicUrl.includes('/', publicUrl.indexOf('//') + 2)
  return { origin: publicUrl, path: hasPath ? path.slice(basePath.length) : path }
}

/** The value of a result as its operation documents it: a record, or a page with its links. */
export function present(
  returns: AnyOperation['returns'],
  result: unknown,
  writer: RecordWriter,
  frame: (page: Page<unknown>) => object,
): unknown {
  if (!returns || result === undefined) return undefined
  if (!isPaged(returns)) return writer.value(returns, result)
  const page = result as Page<unknown>
  return { items: page.items.map((row) => writer.value(returns.paged, row)), ...frame(page) }
}

export function presentText(
  returns: AnyOperation['returns'],
  result: unknown,
  writer: RecordWriter,
  frame: (page: Page<unknown>) => object,
): string | undefined {
  if (!returns || result === undefined) return undefined
  return isPaged(returns) ? JSON.stringify(present(returns, result, writer, frame)) : writer.text(returns, result)
}

/** An address with the query with which it was called. */
export interface Address extends PublicAddress {
  /** With its question mark, or `''`. */
  readonly search: string
}

/** What a page has beside its records: links, and numbers on request. */
export const pageFrame = (address: Address, paging: Paging, { after, count }: Page<unknown>) => ({
  links: pageLinks(address, paging, after),
  ...(count === undefined ? {} : { meta: metaOf(paging, count) }),
})

function metaOf({ page, per_page }: Paging, count: number): PageMeta {
  const total_count = Math.min(count, mostCounted)
  const total_pages = Math.ceil(total_count / per_page)
  const capped = count > mostCounted ? { total_count_capped: true as const } : {}
  return { current_page: page, per_page, total_count, total_pages, ...capped }
}

/** Absolute links, on the caller's own origin, with every parameter that the caller sent. */
function pageLinks(address: Address, paging: Paging, after: string | null) {
  const base = address.origin + address.path
  if (after === null) return { self: base + address.search, next: null }
  const next = new URLSearchParams(address.search)
  next.set('page', String(paging.page + 1))
  next.set('after', after)
  return { self: base + address.search, next: `${base}?${next}` }
}
