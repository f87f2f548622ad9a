/** The parts of a table that are made once: the texts of its usual statements, and what reads and writes its rows. */
import type { LockStrength } from '../../lib/storage/contract.ts'
import { type Dialect, quoted, type SqlValue } from './dialect.ts'
import { type AnyRow, rowReader, rowWriter, type TableShape } from './values.ts'

/** The parts that are made once for a table. */
interface TableStatements {
  /** The columns in their order, as a list for SELECT and RETURNING. */
  readonly list: string
  readonly get: string
  readonly lock: Readonly<Record<LockStrength, string>>
  readonly insert: string
  /** Queries by their shape. */
  readonly finds: Map<string, string>
  read(values: readonly unknown[]): AnyRow
  write(row: AnyRow): SqlValue[]
}

/** @returns finds what is prepared for a table, and makes it at the first use */
export function preparedFor(dialect: Dialect) {
  // By the table, not by its name: a host may have tables of other versions side by side.
  const known = new WeakMap<TableShape, TableStatements>()

  return function preparedOf(table: TableShape): TableStatements {
    const made = known.get(table)
    if (made) return made
    const list = Object.keys(table.columns).map(quoted).join(', ')
    const name = dialect.table(table.name)
    const places = Object.keys(table.columns).map((_, place) => dialect.parameter(place + 1))
    const get = `SELECT ${list} FROM ${name} WHERE "id" = ${dialect.parameter(1)}`
    const prepared: TableStatements = {
      list,
      get,
      lock: {
        share: get + dialect.lock('share'),
        update: get + dialect.lock('update'),
        use: get + dialect.lock('use'),
        close: get + dialect.lock('close'),
      },
      insert: `INSERT INTO ${name} (${list}) VALUES (${places.join(', ')}) ON CONFLICT DO NOTHING`,
      finds: new Map<string, string>(),
      read: rowReader(dialect, table.columns),
      write: rowWriter(dialect, table),
    }
    known.set(table, prepared)
    return prepared
  }
}
