import { batchSize } from './rows-of.ts'
import type { ScopedTx } from './scoped.ts'
import type { Id, Row, Table } from './table.ts'
import { tables } from './tables.ts'

/** Without it a database may look for the lowest ids in all of a table, and read most of it. */
function orderOf({ unique, indexes }: Table<Row>, column: string): keyof Row & string {
  const key = [...indexes, ...unique].find((columns) => columns[1] === column)
  return (key?.[2] ?? 'id') as keyof Row & string
}

/** The columns of all tables that point to a row, as `tables/` declares them, and an order in which an index has their rows. */
const references = (tables as readonly Table<Row>[]).flatMap((table) =>
  Object.entries(table.columns).flatMap(([column, { references }]) =>
    references
      ? {
          to: references.table,
          table,
          column: column as keyof Row & string,
          onRemove: references.onRemove,
          order: { by: orderOf(table, column), direction: 'asc' as const },
        }
      : [],
  ),
)

/** By the name of the table to which they point: an operation may read thousands of rows. */
const pointers = Map.groupBy(references, ({ to }) => to)
const pointingTo = (name: string) => pointers.get(name) ?? []

/**
 * Removes or clears whatever points to a row, as the references of the tables say; batch by batch, all in the caller's
 * transaction. The caller has locked the row. A `restrict` that still holds a row is the caller's to have checked: here it is a fault.
 * @param but tables that the caller sees to
 */
export async function removeDependents(
  tx: ScopedTx,
  table: Pick<Table<Row>, 'name'>,
  id: Id,
  but: readonly string[] = [],
): Promise<void> {
  for (const { table: dependent, column, onRemove, order } of pointingTo(table.name)) {
    if (but.includes(dependent.name)) continue
    const where = { [column]: id }
    for (;;) {
      const rows = await tx.find(dependent, { where, order, limit: batchSize })
      if (rows.length === 0) break
      if (onRemove === 'restrict') throw new Error(`${table.name} ${id} is still referred to by ${dependent.name}.${column}`)
      for (const row of rows) {
        if (onRemove === 'clear') await tx.update(dependent, row.id, { [column]: null })
        else await removeWithDependents(tx, dependent, row.id)
      }
    }
  }
}

/**
 * Removes a row and its dependent rows. The row is locked first, so that nothing is added to it at the same time. Returns the row, or
 * `undefined` if it did not exist.
 */
export async function removeWithDependents<R extends Row, N>(tx: ScopedTx, table: Table<R, N>, id: Id): Promise<R | undefined> {
  if (pointingTo(table.name).length > 0) {
    if (!(await tx.lock(table, id, 'update'))) return undefined
    await removeDependents(tx, table, id)
  }
  return tx.remove(table, id)
}
