/** Places in a list: 1, 2, 3, … without gaps. */
import type { Where } from '../storage/contract.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import type { Row, Table } from '../storage/table.ts'

const batch = 200

/**
 * Moves everything behind a place that has become free up by one. The caller holds the list (`hold`, or a counted row), so
 * that nobody else moves in it meanwhile.
 * @param where the rows of the list
 * @param place the free place
 */
export async function closeGap<R extends Row & { readonly position: number | null }, N>(
  tx: ScopedTx,
  table: Table<R, N>,
  where: Where<R>,
  place: number,
): Promise<void> {
  for (let after = place; ; ) {
    const behind = await tx.find(table, { where, order: { by: 'position', direction: 'asc' }, after, limit: batch })
    for (const row of behind) await tx.update(table, row.id, { position: (row.position ?? 1) - 1 } as Partial<R>)
    if (behind.length < batch) break
    after = behind.at(-1)?.position ?? after
  }
}
