/** Queries over tables of a host, whose functions know equality and order alone: other conditions are evaluated here. */
import { compareIds } from '../base/ids.ts'
import { comparing } from './compare.ts'
import { isFurther, meeting } from './conditions.ts'
import type { Query } from './contract.ts'
import { batchSize } from './rows-of.ts'
import { type Columns, derivedColumns, type Row, type Table } from './table.ts'

type Find = (table: Pick<Table, 'name' | 'columns'>, query: Query<Row>) => Promise<readonly Row[]>
type AnyRow = Row & Readonly<Record<string, unknown>>

/** Every row that matches, by ascending id. */
async function everyRow(find: Find, table: Parameters<Find>[0], where: Query<Row>['where']): Promise<AnyRow[]> {
  const all: AnyRow[] = []
  for (let rows: readonly Row[]; ; ) {
    const last = all.at(-1)?.id
    const place = last === undefined ? {} : { after: last }
    rows = await find(table, { ...(where ? { where } : {}), ...place, limit: batchSize, order: { by: 'id', direction: 'asc' } })
    for (const row of rows) all.push({ ...row, ...derivedColumns(table, row) })
    if (rows.length < batchSize) return all
  }
}

/** The rows of a query, of which `find` is given nothing but equality: all rows that match are read. */
export async function evaluated(find: Find, table: Pick<Table, 'name' | 'columns'>, query: Query<Row>): Promise<Row[]> {
  const { where, order = { by: 'id', direction: 'asc' }, after, limit = Number.POSITIVE_INFINITY, offset = 0 } = query
  const named: ReadonlySet<unknown>[] = []
  for (const { table: other, column, where: wanted } of query.within ?? [])
    named.push(new Set((await everyRow(find, other, wanted)).map((row) => row[column])))
  const isMet = meeting(table.columns, query, named)
  const by: string = order.by
  const compare = comparing(table.columns[by]?.type)
  const sign = order.direction === 'asc' ? 1 : -1
  return (await everyRow(find, table, where))
    .filter((row) => isMet(row) && (after === undefined || sign * compare(row[by], after) > 0))
    .sort((a, b) => sign * (compare(a[by], b[by]) || compareIds(a.id, b.id)))
    .slice(offset, offset + limit)
}

/** Whether a query of a host's table has more than equality and order. */
export const asksForMore = (query: Query<Row>, columns: Columns): boolean =>
  isFurther(query) || (query.order !== undefined && columns[query.order.by]?.derived !== undefined)
