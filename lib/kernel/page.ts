import { utcText } from '../base/date-time.ts'
import { isStorableId } from '../base/ids.ts'
import type { Listing, Page } from '../call.ts'
import { badRequest, fail } from '../errors.ts'
import type { Query, Where } from '../storage/contract.ts'
import { rowsOf } from '../storage/rows-of.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import type { Row, Table } from '../storage/table.ts'

export const defaultPerPage = 25
const maxPerPage = 100

/** Which page is requested. */
export interface Paging {
  readonly page: number
  readonly per_page: number
  /**
   * Begin after this place, from `links.next`: a value of the order column, or a time and an id. `page` is then only a number to
   * count on from.
   */
  readonly after: string | undefined
  /** Whether the order column has times, which several rows may have. */
  readonly isByTime: boolean
}

/** A row's place in a list whose times may be equal: `2026-11-20T10:00:00.000Z_123`. */
const timeAndId = /^(.{24})_(\d{1,16})$/

function isPlace(after: string, isByTime: boolean): boolean {
  const [, time = '', id = ''] = timeAndId.exec(after) ?? []
  return isByTime ? utcText(Date.parse(time)) === time && isStorableId(id) : isStorableId(after)
}

const wholeNumber = (name: string, text: string | undefined, otherwise: number): number => {
  if (text === undefined) return otherwise
  if (!/^\d{1,20}$/.test(text) || Number(text) < 1) fail(badRequest(`${name} must be a whole number from 1`))
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}

/**
 * Reads `page`, `per_page` and `after` (interface.md, 3.1 and 3.2; gaps.md, paging).
 * @throws ApiError 400 when one of them is zero, negative or not a number
 */
export function readPaging(query: Readonly<Record<string, string | undefined>>, isByTime = false): Paging {
  const after = query['after']
  if (after !== undefined && !isPlace(after, isByTime)) fail(badRequest('after must be copied unchanged from links.next'))
  return {
    page: wholeNumber('page', query['page'], 1),
    per_page: Math.min(wholeNumber('per_page', query['per_page'], defaultPerPage), maxPerPage),
    after,
    isByTime,
  }
}

/**
 * Reads one page of a table, and one row more to know whether there is a next one; nothing is ever counted.
 */
export async function readPage<R extends Row, N>(
  tx: ScopedTx,
  table: Table<R, N>,
  { page, per_page, after, isByTime }: Paging,
  query: Listing<R> = {},
): Promise<Page<R>> {
  const offset = after === undefined ? (page - 1) * per_page : 0
  if (!Number.isSafeInteger(offset)) return { items: [], after: null }
  const { picks, ...listing } = query
  const limit = per_page + 1
  const limits = { limit, ...(after === undefined ? { offset } : { after }) }
  const rows = picks
    ? await picked(tx, table, listing.where, picks, limits)
    : isByTime && listing.order && after !== undefined
      ? await atTime(tx, table, listing.where ?? {}, listing.order, after, limit)
      : await tx.find(table, { ...listing, ...limits })
  const items = rows.slice(0, per_page)
  const last = items.at(-1)
  const key: keyof R = query.order?.by ?? 'id'
  const place = last && (isByTime ? `${last[key]}_${last.id}` : String(last[key]))
  return { items, after: place !== undefined && rows.length > per_page ? place : null }
}

/** The rows after a time and an id: first those of the same time. */
async function atTime<R extends Row, N>(
  tx: ScopedTx,
  table: Table<R, N>,
  where: Where<R>,
  order: NonNullable<Query<R>['order']>,
  after: string,
  limit: number,
): Promise<R[]> {
  const [time = '', id = ''] = after.split('_')
  const alike = { where: { ...where, [order.by]: time }, order: { by: 'id', direction: order.direction } } as const
  const same = await tx.find(table, { ...alike, after: id, limit })
  if (same.length === limit) return same
  return [...same, ...(await tx.find(table, { where, order, after: time, limit: limit - same.length }))]
}

/** The rows of a page of those for which a function holds. */
async function picked<R extends Row, N>(
  tx: ScopedTx,
  table: Table<R, N>,
  where: Query<R>['where'],
  picks: (row: R) => boolean,
  { limit, offset = 0, after }: Pick<Query<R>, 'offset' | 'after'> & { readonly limit: number },
): Promise<R[]> {
  const rows: R[] = []
  let skipped = 0
  for await (const row of rowsOf(tx, table, where ?? {}, after === undefined ? {} : { after })) {
    if (!picks(row)) continue
    if (skipped < offset) skipped++
    else rows.push(row)
    if (rows.length === limit) break
  }
  return rows
}
