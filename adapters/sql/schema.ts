/** Tables as data, and the statements that make them. */
import type { Derivation } from '../../lib/storage/table.ts'
import { type Dialect, literal, quoted, type SqlType } from './dialect.ts'

export interface SqlColumn {
  readonly type: SqlType
  /** Default false. */
  readonly nullable?: boolean
  /** The value of existing rows for a new column. */
  readonly default?: unknown
  /** How it follows from other columns, which then fills a new column. */
  readonly derived?: Derivation
}

/** The text after the name of a column, for both engines or for each. */
export type ColumnDdl = string | Readonly<Record<Dialect['engine'], string>>

export const isDdl = (column: SqlColumn | ColumnDdl): column is ColumnDdl => typeof column === 'string' || !('type' in column)

export interface SqlIndex {
  readonly name: string
  /** The text in the parentheses. */
  readonly on: string
  readonly unique?: boolean
  /** The condition of a partial index. */
  readonly where?: string
}

export interface SqlTable {
  readonly name: string
  readonly columns: Readonly<Record<string, SqlColumn | ColumnDdl>>
  /** The columns of the primary key. None where a column has its own. */
  readonly key?: readonly string[]
  readonly indexes?: readonly SqlIndex[]
  /** A column of texts whose parts are searched. */
  readonly searched?: string
  /** Constraints of a new table, as DDL. Nothing adds them to a table that exists. */
  readonly constraints?: readonly string[]
  /** The text of one engine after the closing parenthesis. */
  readonly options?: { readonly sqlite?: string; readonly postgres?: string }
  /** Whether PostgreSQL need not log it: after a crash it is empty. */
  readonly unlogged?: boolean
}

function defaultOf(dialect: Dialect, { type, default: value }: SqlColumn): string {
  if (value === undefined || value === null || type === 'identity') return ''
  const encoded = dialect.encode(type, value)
  return ` DEFAULT ${typeof encoded === 'string' ? literal(encoded) : String(encoded)}`
}

function columnDdl(dialect: Dialect, { key = [] }: SqlTable, name: string, column: SqlColumn | ColumnDdl): string {
  if (isDdl(column)) return `${quoted(name)} ${typeof column === 'string' ? column : column[dialect.engine]}`
  const type = `${quoted(name)} ${dialect.types[column.type]}`
  if (key.length === 1 && key[0] === name) return `${type} PRIMARY KEY`
  return `${type}${column.nullable || column.type === 'identity' ? '' : ' NOT NULL'}${defaultOf(dialect, column)}`
}

export function createTable(dialect: Dialect, table: SqlTable): string {
  const { key = [], constraints = [], options = {} } = table
  const lines = [
    ...Object.entries(table.columns).map(([name, column]) => columnDdl(dialect, table, name, column)),
    ...(key.length > 1 ? [`PRIMARY KEY (${key.map(quoted).join(', ')})`] : []),
    ...constraints,
  ]
  const create = table.unlogged && dialect.engine === 'postgres' ? 'CREATE UNLOGGED TABLE' : 'CREATE TABLE'
  return `${create} ${dialect.table(table.name)} (\n  ${lines.join(',\n  ')}\n)${dialect.tableOptions(options[dialect.engine])}`
}

export function createIndex(dialect: Dialect, table: SqlTable, { name, on, unique = false, where }: SqlIndex): string {
  const create = unique ? 'CREATE UNIQUE INDEX' : 'CREATE INDEX'
  const condition = where === undefined ? '' : ` WHERE ${where}`
  return `${create} ${quoted(dialect.indexName(name))} ON ${dialect.table(table.name)} (${on})${condition}`
}

/** @throws TypeError when the rows that are there would have no value for it */
export function addColumn(dialect: Dialect, table: SqlTable, name: string, column: SqlColumn | ColumnDdl): string {
  if (!isDdl(column) && !column.nullable && column.default === undefined)
    throw new TypeError(`${table.name}.${name} is new: existing rows need a default, or null, for it`)
  return `ALTER TABLE ${dialect.table(table.name)} ADD COLUMN ${columnDdl(dialect, table, name, column)}`
}
