import { Conflict } from './contract.ts'
import { hold } from './hold.ts'
import type { ScopedTx } from './scoped.ts'
import type { Id, Row, Table } from './table.ts'

type CounterOf<R> = { [K in keyof R]: R[K] extends number ? K : never }[keyof R] & string

/**
 * Adds to a counter of a row, if the row is there, and holds it. Guarded by the value that was read, so that no count is lost.
 * @throws Conflict when the row has gone since it was read; the kernel runs the work again
 */
export async function count<R extends Row, N>(
  tx: ScopedTx,
  table: Table<R, N>,
  id: Id,
  counter: CounterOf<R>,
  by: 1 | -1,
): Promise<R | undefined> {
  const row = await tx.get(table, id)
  if (!row) return undefined
  const counted = await add(tx, table, row, counter, by)
  if (counted) return counted
  // Others count at the same moment. Running all the work again would meet them again, and many at once would never end:
  // this waits for its turn at the row, and reads it after that.
  await hold(tx, table, row)
  const now = await tx.get(table, id)
  const last = now && (await add(tx, table, now, counter, by))
  if (!last) throw new Conflict(`${table.name}.${counter} of ${id} was counted by somebody else`)
  return last
}

function add<R extends Row, N>(tx: ScopedTx, table: Table<R, N>, row: R, counter: CounterOf<R>, by: 1 | -1) {
  const value = row[counter] as number
  const patch = { [counter]: value + by } as Partial<R>
  return tx.update(table, row.id, patch, { [counter]: value } as Partial<R>)
}
