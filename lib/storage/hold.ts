/**
 * Holding rows until a transaction ends. On PostgreSQL transactions run side by side, and a guard or a unique key keeps two of
 * them apart only where both write the same row. Where they do not, one rule does it:
 *
 * Whoever adds to a row, or decides by it, holds it first. Whoever removes a row holds it before looking for what belongs to it.
 *
 * So nothing is ever added to a space, a post or a member that is on its way out. Rows are held in one order, so that no two
 * transactions wait for each other: network, plan, custom field, member, what they pay for, collection, space, post, event,
 * comment, segment; a parent before its children, and several of a table by ascending id. Where two still meet crosswise,
 * PostgreSQL undoes one of them, and the kernel runs it again.
 */
import { Conflict, type Where } from './contract.ts'
import type { ScopedTx } from './scoped.ts'
import type { Id, Row, Table } from './table.ts'

/**
 * Holds a row, without changing it: of two transactions that hold the same row, the second one waits, or loses the race and is
 * run again. Whatever is decided by the row must be read after this.
 * @param still what the row must still have
 * @returns the row as it is now
 * @throws Conflict when the row has gone since it was read, or is not so any more; the kernel runs the work again
 */
export async function hold<R extends Row, N>(tx: ScopedTx, table: Table<R, N>, row: R, still?: Where<R>): Promise<R> {
  const unchanging = { created_at: row.created_at } as Partial<R>
  return won(await tx.update(table, row.id, unchanging, { ...unchanging, ...still }), `${table.name} ${row.id}`)
}

/** The row with this id, held, as it is now and as it stays; `undefined` when there is none. */
export async function held<R extends Row, N>(tx: ScopedTx, table: Table<R, N>, id: Id): Promise<R | undefined> {
  const row = await tx.get(table, id)
  const unchanging = row && ({ created_at: row.created_at } as Partial<R>)
  return unchanging && tx.update(table, id, unchanging, unchanging)
}

/**
 * What a guarded change or a removal gave back.
 * @param what names the row in logs
 * @throws Conflict when it gave nothing: somebody else was faster. Run again, the work sees what they did
 */
export function won<R>(row: R | undefined, what: string): R {
  if (row === undefined) throw new Conflict(`${what} was changed or removed by somebody else`)
  return row
}
