import { Conflict } from './contract.ts'
import type { ScopedTx } from './scoped.ts'
import type { Row, Table } from './table.ts'

/**
 * Holds a row until the transaction ends, without changing it: of two transactions that hold the same row, the second one
 * waits, or loses the race and is run again. For rules that span several rows (places in a list, one overview per space),
 * which no guard on a single row can keep. Whatever the rule is about must be read after this.
 * @throws Conflict when the row has gone since it was read; the kernel runs the work again
 */
export async function hold<R extends Row, N>(tx: ScopedTx, table: Table<R, N>, row: R): Promise<void> {
  const unchanging = { created_at: row.created_at } as Partial<R>
  if (!(await tx.update(table, row.id, unchanging, unchanging))) throw new Conflict(`${table.name} ${row.id} has gone`)
}
