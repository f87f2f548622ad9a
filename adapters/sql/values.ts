/** Values between rows and columns: what can be stored, what can be searched, and how it is written. */
import { isStorableId } from '../../lib/base/ids.ts'
import type { ColumnType, Derivation } from '../../lib/storage/table.ts'
import type { Dialect, SqlValue } from './dialect.ts'

/** A table as these adapters need it: no row types. */
export interface TableShape {
  /** As in the database. */
  readonly name: string
  readonly columns: Readonly<Record<string, ColumnShape>>
  /** Unique keys, each as the names of its columns. */
  readonly unique: readonly (readonly string[])[]
  /** Indexes, each as the names of its columns. */
  readonly indexes: readonly (readonly string[])[]
  /** See `Table`: an index with one of these columns leaves out the rows that have its value. */
  readonly usual?: Readonly<Record<string, string>>
  /** See `Table`. */
  readonly searched?: { readonly column: string; readonly holds: readonly string[] }
}

/** A column as these adapters need it. */
export interface ColumnShape {
  /** What it holds, from which the type in the database follows. */
  readonly type: ColumnType
  /** Whether a row may hold null. */
  readonly nullable: boolean
  /** The value that an insert without this column stores. */
  readonly default?: unknown
  /** How it follows from other columns. */
  readonly derived?: Derivation
}

export type AnyRow = Readonly<Record<string, unknown>>

/** Whether a column of this type can hold the value. Looked at here because PostgreSQL aborts the whole transaction over it. */
function isStorable(dialect: Dialect, type: ColumnType, value: unknown): boolean {
  if (type === 'id') return typeof value === 'string' && isStorableId(value)
  if (type === 'integer') return Number.isSafeInteger(value)
  if (type === 'real') return Number.isFinite(value)
  if (type === 'boolean') return typeof value === 'boolean'
  if (type === 'json') return value !== undefined
  return typeof value === 'string' && dialect.storesText(value)
}

/**
 * A value as the database takes it.
 * @throws RangeError when the column cannot hold it unchanged
 */
export function encodeValue(dialect: Dialect, table: TableShape, name: string, value: unknown): SqlValue {
  const column = table.columns[name]
  if (!column) throw new RangeError(`${table.name} has no column ${name}`)
  return encoded(dialect, table, name, column, value)
}

function encoded(dialect: Dialect, table: TableShape, name: string, column: ColumnShape, value: unknown): SqlValue {
  if (value === null && (column.nullable || column.type !== 'json')) return null
  if (!isStorable(dialect, column.type, value))
    throw new RangeError(
      `${table.name}.${name} cannot hold this value: it is not a ${column.type} that the database keeps unchanged`,
    )
  return dialect.encode(column.type, value)
}

/**
 * Makes the values of a table's columns in their order, from whole rows.
 * @returns throws RangeError when a column cannot hold its value unchanged
 */
export function rowWriter(dialect: Dialect, table: TableShape): (row: AnyRow) => SqlValue[] {
  const columns = Object.entries(table.columns)
  return (row) => columns.map(([name, column]) => encoded(dialect, table, name, column, row[name]))
}

/** A value to search for; `undefined` when no row can have it. */
export function encodeWanted(dialect: Dialect, type: ColumnType, value: unknown): SqlValue | undefined {
  return isStorable(dialect, type, value) ? dialect.encode(type, value) : undefined
}

/** Makes rows of a table, each a separate copy, from the values of its columns in their order. */
export function rowReader(dialect: Dialect, columns: TableShape['columns']): (values: readonly unknown[]) => AnyRow {
  const names = Object.keys(columns)
  const decoders = Object.values(columns).map(({ type }) => dialect.decoders[type])
  return (values) => {
    const row: Record<string, unknown> = {}
    // By index: lists of a hundred rows of twenty columns are read here.
    for (let place = 0; place < names.length; place++) {
      const value = values[place]
      const decode = decoders[place]
      row[names[place] as string] = value === null || decode === undefined ? value : decode(value)
    }
    return row
  }
}
