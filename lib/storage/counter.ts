import { Conflict } from './contract.ts'
import type { ScopedTx } from './scoped.ts'
import type { Id, Row, Table } from './table.ts'

type CounterOf<R> = { [K in keyof R]: R[K] extends number ? K : never }[keyof R] & string

/**
 * Adds to a counter of a row, if the row is there. Guarded by the value that was read, so that no count is lost.
 * @throws Conflict when another transaction counted at the same moment; the kernel runs the work again
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
  const value = row[counter] as number
  const patch = { [counter]: value + by } as Partial<R>
  const counted = await tx.update(table, id, patch, { [counter]: value } as Partial<R>)
  if (!counted) throw new Conflict(`${table.name}.${counter} of ${id} was counted by somebody else`)
  return counted
}
