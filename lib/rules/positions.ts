/** Positions in a list: 1, 2, 3, … without gaps. */
import type { Where } from '../storage/contract.ts'
import { rowsOf } from '../storage/rows-of.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import type { Row, Table } from '../storage/table.ts'

/**
 * Moves everything behind a position that has become free up by one. The caller has locked what the
 * list belongs to, so that no other request moves anything in it at the same time.
 * @param where the rows of the list
 * @param position the free position
 */
export async function closeGap<R extends Row & { readonly position: number | null }, N>(
  tx: ScopedTx,
  table: Table<R, N>,
  where: Where<R>,
  position: number,
): Promise<void> {
  for await (const row of rowsOf(tx, table, where, { by: 'position', after: position }))
    await tx.update(table, row.id, { position: (row.position ?? 1) - 1 } as Partial<R>)
}
