/**
 * The migration of a database to the tables of a store.
 *
 * Terms
 * - **Addition**: a table, an index, or a column that may be null or has a default. It is found missing and made. An older
 *   program still works with it, so it needs neither a version nor a step. A new column that follows from others is filled.
 * - **Step**: every other change. Its number is the version that it leads to, and a program of a lower version refuses the
 *   database.
 */
import { StorageError } from '../../lib/storage/contract.ts'
import { type Dialect, searchName } from './dialect.ts'
import { fillDerived, type Query } from './fill.ts'
import { addColumn, createIndex, createTable, type SqlTable } from './schema.ts'

/** Statements that lead to a version. It meets the tables as an older version left them, whichever it was, and a table may not be there yet. */
export type Step = (existing: Existing, dialect: Dialect) => readonly string[]

/** The tables of a store. */
export interface Schema {
  /** Goes up, with a step of its number, when an older program can no longer use the database. From 1. */
  readonly version: number
  readonly tables: readonly SqlTable[]
  readonly steps?: Readonly<Record<number, Step>>
}

/** The present state of a database. */
export interface Existing {
  /** The version that is written in it: undefined where there are no tables, 0 where there are some and no version. */
  readonly version: number | undefined
  /** Columns by table name, without prefix or schema. */
  readonly tables: ReadonlyMap<string, ReadonlySet<string>>
  /** Names of indexes, as in the catalogue. */
  readonly indexes: ReadonlySet<string>
  /** The schema of PostgreSQL's extension `pg_trgm`, if it is installed, and the role may make an index of it. */
  readonly trigrams?: string | undefined
  /** Statements that come before all others. */
  readonly first: readonly string[]
}

/** One database on its way. */
export interface MigratedDatabase {
  readonly dialect: Dialect
  /** Names it in messages. */
  readonly where: string
  existing(): Promise<Existing>
  /** Waits until no other process migrates it, in a transaction from then on. */
  lock(): Promise<void>
  run(statements: readonly string[]): Promise<void>
  readonly query: Query
  commit(): Promise<void>
  /** Ends the transaction, if there is one. */
  rollback(): Promise<void>
}

const versionRow = 'schema_version'
const meta: SqlTable = { name: 'meta', columns: { name: { type: 'text' }, value: { type: 'text' } }, key: ['name'] }

export const versionQuery = (dialect: Dialect): string =>
  `SELECT "value" FROM ${dialect.table(meta.name)} WHERE "name" = '${versionRow}'`

/** @throws StorageError `newer` when a newer version of folkmoot has been there */
export function refuseNewer({ version }: Schema, existing: Existing, where: string): void {
  if (existing.version === undefined || existing.version <= version) return
  const versions = `its schema has version ${existing.version}, this one supports ${version}`
  throw new StorageError('newer', `${where} belongs to a newer version of folkmoot (${versions}): update folkmoot`)
}

function stepsFor(dialect: Dialect, { steps = {} }: Schema, existing: Existing): string[] {
  const { version } = existing
  if (version === undefined) return []
  // Keys that are whole numbers come in their order.
  return Object.entries(steps).flatMap(([to, step]) => (Number(to) > version ? step(existing, dialect) : []))
}

/** The index of the parts of texts, if it is missing and can be made. */
function searchFor(dialect: Dialect, { name, searched }: SqlTable, { tables, indexes, trigrams }: Existing): readonly string[] {
  const index = searchName(name)
  return searched === undefined || tables.has(index) || indexes.has(index) ? [] : dialect.searchIndex(name, searched, trigrams)
}

function additionsFor(dialect: Dialect, { version, tables }: Schema, existing: Existing): string[] {
  const additions = [...existing.first]
  for (const table of tables.some(({ name }) => name === meta.name) ? tables : [meta, ...tables]) {
    const columns = existing.tables.get(table.name)
    if (columns) {
      const missing = Object.entries(table.columns).filter(([name]) => !columns.has(name))
      additions.push(...missing.map(([name, column]) => addColumn(dialect, table, name, column)))
    } else additions.push(createTable(dialect, table))
    const indexes = (table.indexes ?? []).filter(({ name }) => !existing.indexes.has(dialect.indexName(name)))
    additions.push(...indexes.map((index) => createIndex(dialect, table, index)))
  }
  additions.push(...tables.flatMap((table) => searchFor(dialect, table, existing)))
  if (existing.version !== version)
    additions.push(
      `INSERT INTO ${dialect.table(meta.name)} ("name", "value") VALUES ('${versionRow}', '${version}') ON CONFLICT ("name") DO UPDATE SET "value" = excluded."value"`,
    )
  return additions
}

/**
 * The missing parts. Additions are only known where no step is pending.
 * @throws StorageError `newer`
 */
async function missingIn({ dialect, where, existing }: MigratedDatabase, schema: Schema) {
  const found = await existing()
  refuseNewer(schema, found, where)
  const steps = stepsFor(dialect, schema, found)
  return { found, steps, additions: steps.length > 0 ? [] : additionsFor(dialect, schema, found) }
}

/**
 * Brings a database to a schema. Does nothing when it is there: then it is only read.
 *
 * @param dryRun only say what would be done. Pending steps are tried, and not committed.
 * @returns the statements that were run, or would be
 * @throws StorageError `newer`
 * @throws TypeError when a new column of an existing table has neither null nor a default
 */
export async function migrate(database: MigratedDatabase, schema: Schema, dryRun = false): Promise<readonly string[]> {
  const seen = await missingIn(database, schema)
  if (seen.steps.length === 0 && (dryRun || seen.additions.length === 0)) {
    await database.rollback()
    return seen.additions
  }
  await database.lock()
  // Another process may have migrated it in between.
  const { steps, additions, found } = await missingIn(database, schema)
  let before = found
  if (steps.length > 0) {
    await database.run(steps)
    before = await database.existing()
    additions.push(...additionsFor(database.dialect, schema, before))
  }
  if (additions.length > 0) await database.run(additions)
  for (const table of dryRun ? [] : schema.tables) {
    const had = before.tables.get(table.name)
    if (had) await fillDerived(database.dialect, database.query, table, had)
  }
  await (dryRun ? database.rollback() : database.commit())
  return [...steps, ...additions]
}

/**
 * @param remedy what migrates the database
 * @throws StorageError `unavailable` when something is missing, `newer`
 */
export async function requireMigrated(
  database: MigratedDatabase,
  schema: Schema,
  remedy = 'run `folkmoot migrate` first',
): Promise<void> {
  // An extension of PostgreSQL may have come since. Its index makes searches faster, and is none of what a store needs.
  const existing = async () => ({ ...(await database.existing()), trigrams: undefined })
  const { found, steps, additions } = await missingIn({ ...database, existing }, schema)
  await database.rollback()
  const missing = steps.length + additions.length
  if (missing === 0) return
  const lack = steps.length > 0 ? `has version ${found.version}, not ${schema.version},` : `lacks ${missing} changes`
  throw new StorageError('unavailable', `${database.where} ${lack} of its tables: ${remedy}`)
}
