/** Makes the tables of a SQLite file, and leads those of an earlier version to where they are now. */
import { existsSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { StorageError } from '../../../lib/storage/contract.ts'
import { tables as allTables } from '../../../lib/storage/tables.ts'
import { type Existing, migrationSteps } from '../schema.ts'
import type { TableShape } from '../values.ts'
import { type Connection, connectionOver, openConnection } from './connection.ts'
import { sqliteDialect, tablePrefix } from './dialect.ts'
import { isBusy } from './errors.ts'
import { DatabaseSync } from './module.ts'

export interface SqliteMigration {
  readonly path: string
  /** Only say what would be done. */
  readonly dryRun?: boolean
  /** Other tables than those of the API, for tests. */
  readonly tables?: readonly TableShape[]
}

/**
 * Brings a SQLite file to the data model, in one transaction. Does nothing when it is there.
 *
 * @returns the statements that were run, or would be
 * @throws StorageError `newer`, `damaged`, `unavailable`, `full`
 */
export async function migrateSqlite({ path, dryRun = false, tables = allTables }: SqliteMigration): Promise<readonly string[]> {
  // Only looking makes no file.
  const connection = dryRun && !existsSync(path) ? connectionOver(new DatabaseSync(':memory:'), path) : openConnection(path)
  try {
    return dryRun ? stepsFor(connection, path, tables) : await applySteps(connection, path, tables)
  } finally {
    connection.close()
  }
}

/** Milliseconds to wait for another process that migrates or writes. */
const patience = 10_000

/** Applies what is missing, under the write lock: of two processes at once, the second one finds nothing left to do. */
export async function applySteps(
  connection: Connection,
  path: string,
  tables: readonly TableShape[],
): Promise<readonly string[]> {
  if (stepsFor(connection, path, tables).length === 0) return []
  const begun = performance.now()
  for (;;) {
    try {
      connection.run('BEGIN IMMEDIATE')
      break
    } catch (error) {
      if (!isBusy(error) || performance.now() - begun > patience) throw error
      await setTimeout(20)
    }
  }
  try {
    const steps = stepsFor(connection, path, tables)
    for (const step of steps) connection.database.exec(step)
    connection.run('COMMIT')
    return steps
  } catch (error) {
    if (connection.database.isTransaction) connection.run('ROLLBACK')
    throw error
  }
}

/** @throws StorageError `unavailable` when something is missing */
export function requireMigrated(connection: Connection, path: string, tables: readonly TableShape[]): void {
  const steps = stepsFor(connection, path, tables)
  if (steps.length > 0)
    throw new StorageError('unavailable', `${path} lacks ${steps.length} changes of its tables: run \`folkmoot migrate\` first`)
}

const stepsFor = (connection: Connection, path: string, tables: readonly TableShape[]): readonly string[] =>
  migrationSteps(sqliteDialect, tables, existingIn(connection), path)

function existingIn(connection: Connection): Existing {
  const found = connection.query({
    sql: `SELECT s.type, s.name, c.name FROM sqlite_schema s LEFT JOIN pragma_table_info(s.name) c ON s.type = 'table'
          WHERE s.type IN ('table', 'index') AND substr(s.name, 1, ${tablePrefix.length}) = ?`,
    values: [tablePrefix],
  })
  const tables = new Map<string, Set<string>>()
  const indexes = new Set<string>()
  for (const [type, name, column] of found) {
    if (type === 'index') indexes.add(String(name))
    else {
      const table = String(name).slice(tablePrefix.length)
      tables.set(table, (tables.get(table) ?? new Set()).add(String(column)))
    }
  }
  const [version] = tables.has('meta')
    ? connection.query({ sql: `SELECT "value" FROM ${sqliteDialect.table('meta')} WHERE "name" = 'schema_version'`, values: [] })
    : []
  return { version: version && Number(version[0]), tables, indexes }
}
