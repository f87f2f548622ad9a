/** The wire: the API's address for its callers, and the JSON of a result. */
import type { Page } from '../call.ts'
import { isPaged } from '../fields.ts'
import type { AnyOperation } from '../operation.ts'
import type { RecordWriter } from '../records/json/writer.ts'
import type { Settings } from '../settings.ts'
import type { Paging } from './page.ts'

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
  links: (after: string | null) => unknown,
): unknown {
  if (!returns || result === undefined) return undefined
  if (!isPaged(returns)) return writer.value(returns, result)
  const { items, after } = result as Page<unknown>
  return { items: items.map((row) => writer.value(returns.paged, row)), links: links(after) }
}

/** The same as text. */
export function presentText(
  returns: AnyOperation['returns'],
  result: unknown,
  writer: RecordWriter,
  links: (after: string | null) => unknown,
): string | undefined {
  if (!returns || result === undefined) return undefined
  return isPaged(returns) ? JSON.stringify(present(returns, result, writer, links)) : writer.text(returns, result)
}

/** An address with the query with which it was called. */
export interface Address extends PublicAddress {
  /** With its question mark, or `''`. */
  readonly search: string
}

/** The links of a page: absolute, on the caller's own origin, with every parameter that the caller sent. */
export function pageLinks(address: Address, paging: Paging, after: string | null) {
  const base = address.origin + address.path
  if (after === null) return { self: base + address.search, next: null }
  const next = new URLSearchParams(address.search)
  next.set('page', String(paging.page + 1))
  next.set('after', after)
  return { self: base + address.search, next: `${base}?${next}` }
}
