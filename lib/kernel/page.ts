import { isStorableId } from '../base/ids.ts'
import type { Listing, Page } from '../call.ts'
import { badRequest, fail } from '../errors.ts'
import type { Query } from '../storage/contract.ts'
import { rowsOf } from '../storage/rows-of.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import type { Row, Table } from '../storage/table.ts'

export const defaultPerPage = 25
const maxPerPage = 100

/** Which page is asked for. */
export interface Paging {
  readonly page: number
  readonly per_page: number
  /** Begin after this value of the order column, from `links.next`. `page` is then only a number to count on from. */
  readonly after: string | undefined
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
export function readPaging(query: Readonly<Record<string, string | undefined>>): Paging {
  const after = query['after']
  if (after !== undefined && !isStorableId(after)) fail(badRequest('after must be copied unchanged from links.next'))
  return {
    page: wholeNumber('page', query['page'], 1),
    per_page: Math.min(wholeNumber('per_page', query['per_page'], defaultPerPage), maxPerPage),
    after,
  }
}

/**
 * Reads one page of a table, and one row more to know whether there is a next one; nothing is ever counted.
 */
export async function readPage<R extends Row, N>(
  tx: ScopedTx,
  table: Table<R, N>,
  { page, per_page, after }: Paging,
  query: Listing<R> = {},
): Promise<Page<R>> {
  const offset = after === undefined ? (page - 1) * per_page : 0
  if (!Number.isSafeInteger(offset)) return { items: [], after: null }
  const { picks, ...asked } = query
  const limits = { limit: per_page + 1, ...(after === undefined ? { offset } : { after }) }
  const rows = picks ? await picked(tx, table, asked.where, picks, limits) : await tx.find(table, { ...asked, ...limits })
  const items = rows.slice(0, per_page)
  const last = items.at(-1)
  const key: keyof R = query.order?.by ?? 'id'
  return { items, after: last && rows.length > per_page ? String(last[key]) : null }
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
