/** Walking a table in keyset order, some hundred rows at a time, and the rows that other rows name. */
import type { Where } from './contract.ts'
import type { ScopedTx } from './scoped.ts'
import type { Id, Row, Table } from './table.ts'

/** Rows that one query takes from a table. */
export const batchSize = 200

export interface Walk<R> {
  /** The column that gives the order; unique among the rows that match. Default `id`. */
  readonly by?: keyof R & string
  /** Begins after this value. */
  readonly after?: string | number
  /** Rows of a batch. Default `batchSize`. */
  readonly size?: number
}

/** The rows that match, in batches. Rows that were given already may be changed or removed in between. */
export async function* batchesOf<R extends Row, N>(
  tx: Pick<ScopedTx, 'find'>,
  table: Table<R, N>,
  where: Where<R>,
  { by = 'id', after, size = batchSize }: Walk<R> = {},
): AsyncGenerator<R[], void, undefined> {
  let last: string | number | undefined = after
  for (;;) {
    const order = { by, direction: 'asc' } as const
    const rows = await tx.find(table, { where, order, limit: size, ...(last === undefined ? {} : { after: last }) })
    if (rows.length > 0) yield rows
    if (rows.length < size) return
    last = rows.at(-1)?.[by] as string | number
  }
}

/** The rows that match, one by one. */
export async function* rowsOf<R extends Row, N>(
  tx: Pick<ScopedTx, 'find'>,
  table: Table<R, N>,
  where: Where<R>,
  walk: Walk<R> = {},
): AsyncGenerator<R, void, undefined> {
  for await (const rows of batchesOf(tx, table, where, walk)) yield* rows
}

/** The rows that a column of other rows names, by id, looked up together. */
export async function rowsNamed<R extends Row, N, Column extends string>(
  tx: Pick<ScopedTx, 'find'>,
  table: Table<R, N>,
  column: Column,
  rows: readonly Readonly<Record<Column, Id | null>>[],
): Promise<ReadonlyMap<Id, R>> {
  const ids = new Set(rows.flatMap((row) => row[column] ?? []))
  const where: Where<Row> = { id: [...ids] }
  const named = ids.size === 0 ? [] : await tx.find(table, { where: where as Where<R> })
  return new Map(named.map((row) => [row.id, row]))
}
