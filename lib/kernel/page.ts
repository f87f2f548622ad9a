import * as v from 'valibot'
import { utcText } from '../base/date-time.ts'
import { isStorableId } from '../base/ids.ts'
import type { Listing, Page } from '../call.ts'
import { ApiError, badRequest, fail, invalid } from '../errors.ts'
import { BoolQuery, type PageOfRecords, wellFormed } from '../fields.ts'
import type { Query, Range } from '../storage/contract.ts'
import { rowsOf } from '../storage/rows-of.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import type { Id, Row, Table } from '../storage/table.ts'

export const defaultPerPage = 25
const maxPerPage = 100

export interface Paging {
  readonly page: number
  readonly per_page: number
  /**
   * Begin after this place, from `links.next`: an id, or a value of the order column and an id. `page` is then only a number to
   * count on from.
   */
  readonly after: string | undefined
  /** Whether the rows of all pages are to be counted. */
  readonly isCounted: boolean
}

/** Rows are counted up to this number. */
export const mostCounted = 10_000

/** The place of a row among others that may have the same value; `''` is null, where there is null: `2026-11-20T10:00:00.000Z_123`. */
function valueAndId(after: string): { readonly value: string; readonly id: Id } | undefined {
  const end = after.lastIndexOf('_')
  const id = after.slice(end + 1)
  return end >= 0 && isStorableId(id) && Number(id) < Number.MAX_SAFE_INTEGER ? { value: after.slice(0, end), id } : undefined
}

const PlaceText = v.pipe(v.string(), wellFormed)

function isPlace(after: string, { isByTime, isSorted }: Pick<PageOfRecords, 'isByTime' | 'isSorted'>): boolean {
  const place = valueAndId(after)
  if (isByTime) return place !== undefined && utcText(Date.parse(place.value)) === place.value
  return isStorableId(after) || (isSorted === true && place !== undefined)
}

// Without a declared failure: every list has it.
const refusePlace = (): never => {
  throw new ApiError(400, { error: 'after must be copied unchanged from links.next' })
}

const wholeNumber = (name: string, text: string | undefined, otherwise: number): number => {
  if (text === undefined) return otherwise
  if (!/^\d{1,20}$/.test(text) || Number(text) < 1) fail(badRequest(`${name} must be a whole number from 1`))
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}

function readFlag(name: string, text = 'false'): boolean {
  const { success, output } = v.safeParse(BoolQuery, text)
  return success ? output : fail(invalid(name), `${name} must be true or false`)
}

/**
 * Reads `page`, `per_page` and `after` (interface.md, 3.1 and 3.2; gaps.md, paging), and `count`.
 * @throws ApiError 400 when one of the first is zero, negative or not a number, 422 for another `count` than true or false
 */
export function readPaging(
  query: Readonly<Record<string, string | undefined>>,
  places: Pick<PageOfRecords, 'isByTime' | 'isSorted'> = {},
): Paging {
  const after = query['after']
  if (after !== undefined && !isPlace(after, places)) refusePlace()
  return {
    page: wholeNumber('page', query['page'], 1),
    per_page: Math.min(wholeNumber('per_page', query['per_page'], defaultPerPage), maxPerPage),
    after,
    isCounted: readFlag('count', query['count']),
  }
}

/**
 * Reads one page of a table, and one row more to know whether there is a next one. Rows are counted only on request.
 */
export async function readPage<R extends Row, N>(
  tx: ScopedTx,
  table: Table<R, N>,
  paging: Paging,
  query: Listing<R> = {},
): Promise<Page<R>> {
  const { page, per_page, after } = paging
  const offset = after === undefined ? (page - 1) * per_page : 0
  const count = paging.isCounted ? { count: await counted(tx, table, query) } : {}
  if (!Number.isSafeInteger(offset)) return { items: [], after: null, ...count }
  const { picks, order = upwards, ...listing } = query
  if (after !== undefined && !isPlaceIn(table, order, after)) refusePlace()
  const limit = per_page + 1
  const rows = picks
    ? await picked(tx, table, listing.where, picks, { limit, ...(after === undefined ? { offset } : { after }) })
    : after === undefined
      ? await tx.find(table, { ...listing, order, limit, offset })
      : await rowsAfter(tx, table, { ...listing, order }, after, limit)
  const items = rows.slice(0, per_page)
  const last = items.at(-1)
  return { items, after: last && rows.length > per_page ? placeOf(table, order, last) : null, ...count }
}

const upwards = { by: 'id', direction: 'asc' } as const

type Order<R> = NonNullable<Query<R>['order']>

/** Whether the places of an order are values with ids. Ids of an order are unique in a list; other values may not be. */
const hasValues = ({ columns }: Pick<Table, 'columns'>, { by }: { readonly by: string }): boolean => columns[by]?.type !== 'id'

/** The place of a row in a list of this order. */
export const placeOf = <R extends Row>(table: Pick<Table, 'columns'>, order: Order<R>, row: R): string =>
  hasValues(table, order) ? `${row[order.by] ?? ''}_${row.id}` : String(row[order.by])

export function isPlaceIn(table: Pick<Table, 'columns'>, order: { readonly by: string }, after: string): boolean {
  if (!hasValues(table, order)) return isStorableId(after)
  return valueAndId(after) !== undefined && v.is(PlaceText, after)
}

/** The rows of a list after a place; from its beginning without one. */
export async function rowsAfter<R extends Row, N>(
  tx: ScopedTx,
  table: Table<R, N>,
  { order = upwards, ...listing }: Omit<Listing<R>, 'picks'>,
  after: string | undefined,
  limit: number,
): Promise<R[]> {
  const place = after === undefined || !hasValues(table, order) ? undefined : valueAndId(after)
  if (place) return afterValue(tx, table, { ...listing, order }, place, limit)
  return tx.find(table, { ...listing, order, limit, ...(after === undefined ? {} : { after }) })
}

/** How many rows a list has; one more than is counted if it has more. */
async function counted<R extends Row, N>(
  tx: ScopedTx,
  table: Table<R, N>,
  { picks, order: _, ...listing }: Listing<R>,
): Promise<number> {
  const limit = mostCounted + 1
  return picks ? (await picked(tx, table, listing.where, picks, { limit })).length : tx.count(table, { ...listing, limit })
}

/** The rows after a value and an id: first those of the same value, at last those without one if they come last. */
async function afterValue<R extends Row, N>(
  tx: ScopedTx,
  table: Table<R, N>,
  { order, ...listing }: Omit<Listing<R>, 'picks' | 'order'> & { readonly order: Order<R> },
  { value, id }: { readonly value: string; readonly id: Id },
  limit: number,
): Promise<R[]> {
  const { by, direction } = order
  const isNullable = table.columns[by]?.nullable === true
  const isNull = isNullable && value === ''
  const isUp = direction === 'asc'
  const rows: R[] = []
  const add = async ({ where = {}, ranges = {}, ...more }: { where?: object; ranges?: object; after?: string }) => {
    if (rows.length === limit) return
    const all = { ...listing, ...more, where: { ...listing.where, ...where }, ranges: { ...listing.ranges, ...ranges } }
    rows.push(...(await tx.find(table, { ...all, order, limit: limit - rows.length } as Query<R>)))
  }
  const range: Range = listing.ranges?.[by] ?? {}
  await add({ where: { [by]: isNull ? null : value }, ranges: { id: isUp ? { from: String(Number(id) + 1) } : { before: id } } })
  if (isNull) {
    if (isUp) await add({ ranges: { [by]: { from: '', ...range } } })
    return rows
  }
  // The place may be that of another filter.
  const before = range.before === undefined || value < range.before ? value : range.before
  await add(isUp ? { after: value } : { ranges: { [by]: { ...range, before } } })
  if (!isUp && isNullable && Object.keys(range).length === 0) await add({ where: { [by]: null } })
  return rows
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
