/**
 * Tables of the data model as DDL, and the steps that lead an existing database there.
 *
 * Steps only add: tables, columns with a default, indexes. So an older program goes on working on a database that a newer one
 * has migrated, and a step that was done is not found missing again. A change that is not an addition raises `schemaVersion`.
 */
import { crc32 } from '../../lib/base/crc32.ts'
import { StorageError } from '../../lib/storage/contract.ts'
import { type Dialect, literal, quoted } from './dialect.ts'
import type { ColumnShape, TableShape } from './values.ts'

/** Goes up when a database can no longer be used by the program before; a newer one is refused. */
export const schemaVersion = 1

/** What a database has already. */
export interface Existing {
  /** The version that is written in it; undefined for a database that has nothing of ours. */
  readonly version: number | undefined
  /** Columns by table name, without prefix or schema. */
  readonly tables: ReadonlyMap<string, ReadonlySet<string>>
  /** Names of indexes, as in the catalogue. */
  readonly indexes: ReadonlySet<string>
}

/** The longest name that PostgreSQL takes. */
const longestName = 63

/** The name of an index; one that would be cut off ends in a checksum instead. */
function indexName(table: string, columns: readonly string[], unique: boolean): string {
  const name = `${table}_${columns.join('_')}_${unique ? 'key' : 'index'}`
  // Room for the prefix of a dialect.
  if (name.length <= longestName - 10) return name
  const sum = crc32(new TextEncoder().encode(name)).toString(16).padStart(8, '0')
  return `${name.slice(0, longestName - 19)}_${sum}`
}

/** The unique key that a violated index stands for; `undefined` for an index of somebody else. */
export function keyOfIndex(dialect: Dialect, table: TableShape, name: string): readonly string[] | undefined {
  return table.unique.find((key) => dialect.indexName(indexName(table.name, key, true)) === name)
}

interface Index {
  readonly name: string
  readonly columns: readonly string[]
  readonly unique: boolean
}

/** The indexes of a table, without those that another one serves as well. */
function indexesOf(dialect: Dialect, table: TableShape): Index[] {
  const neverNull = (key: readonly string[]) => key.every((name) => table.columns[name]?.nullable === false)
  const served = (columns: readonly string[]) =>
    // By the primary key; or by a unique key, under which the id at the end has nothing left to order.
    columns.length === 1 || table.unique.some((key) => neverNull(key) && [...key, 'id'].join() === columns.join())
  const plain = table.indexes.filter((columns) => !served(columns))
  return [
    ...table.unique.map((columns) => ({ name: dialect.indexName(indexName(table.name, columns, true)), columns, unique: true })),
    ...plain.map((columns) => ({
      name: dialect.indexName(indexName(table.name, columns, false)),
      columns: dialect.indexesEndInId ? columns.slice(0, -1) : columns,
      unique: false,
    })),
  ]
}

function defaultOf(dialect: Dialect, { type, default: value }: ColumnShape): string {
  if (value === undefined || value === null) return ''
  const encoded = dialect.encode(type, value)
  return ` DEFAULT ${typeof encoded === 'string' ? literal(encoded) : String(encoded)}`
}

const columnDdl = (dialect: Dialect, name: string, column: ColumnShape): string =>
  name === 'id'
    ? `"id" ${dialect.types.id} PRIMARY KEY`
    : `${quoted(name)} ${dialect.types[column.type]}${column.nullable ? '' : ' NOT NULL'}${defaultOf(dialect, column)}`

function tableDdl(dialect: Dialect, table: TableShape): string {
  const columns = Object.entries(table.columns).map(([name, column]) => `  ${columnDdl(dialect, name, column)}`)
  return `CREATE TABLE ${dialect.table(table.name)} (\n${columns.join(',\n')}\n)${dialect.tableSuffix}`
}

function indexDdl(dialect: Dialect, table: TableShape, { name, columns, unique }: Index): string {
  const parts = columns.map((column) => quoted(column) + (table.columns[column]?.nullable ? dialect.nulls('asc') : ''))
  return `CREATE ${unique ? 'UNIQUE ' : ''}INDEX ${quoted(name)} ON ${dialect.table(table.name)} (${parts.join(', ')})`
}

/**
 * The statements that lead a database to the data model; none when it is there.
 *
 * @param tables the tables that are wanted
 * @param existing what there is
 * @param where names the database in messages
 * @throws StorageError `newer` when a newer version of folkmoot has been there
 * @throws TypeError when a new column of an existing table has neither null nor a default
 */
export function migrationSteps(dialect: Dialect, tables: readonly TableShape[], existing: Existing, where: string): string[] {
  if (existing.version !== undefined && existing.version > schemaVersion) {
    const versions = `its schema has version ${existing.version}, this one knows ${schemaVersion}`
    throw new StorageError('newer', `${where} belongs to a newer version of folkmoot (${versions}): update folkmoot`)
  }
  const own = Object.entries(dialect.ownTables).filter(([name]) => !existing.tables.has(name))
  const steps = own.map(([, statement]) => statement)
  for (const table of tables) {
    const columns = existing.tables.get(table.name)
    if (columns) steps.push(...newColumns(dialect, table, columns))
    else steps.push(tableDdl(dialect, table))
    const missing = indexesOf(dialect, table).filter(({ name }) => !existing.indexes.has(name))
    steps.push(...missing.map((index) => indexDdl(dialect, table, index)))
  }
  if (existing.version === undefined)
    steps.push(`INSERT INTO ${dialect.table('meta')} ("name", "value") VALUES ('schema_version', '${schemaVersion}')`)
  return steps
}

function newColumns(dialect: Dialect, table: TableShape, existing: ReadonlySet<string>): string[] {
  return Object.entries(table.columns)
    .filter(([name]) => !existing.has(name))
    .map(([name, column]) => {
      if (!column.nullable && column.default === undefined)
        throw new TypeError(`${table.name}.${name} is new: rows that are there need a default, or null, for it`)
      return `ALTER TABLE ${dialect.table(table.name)} ADD COLUMN ${columnDdl(dialect, name, column)}`
    })
}
