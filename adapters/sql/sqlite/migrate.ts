/** Brings a SQLite file to a schema. */

import type { SqlValue } from '../dialect.ts'
import { type Existing, type MigratedDatabase, migrate, requireMigrated, type Schema, versionQuery } from '../migrations.ts'
import { whileBusy } from './busy.ts'
import type { SqliteDialect } from './dialect.ts'
import type { DatabaseSync } from './module.ts'
import { prepared } from './old-node.ts'

/** Milliseconds to wait for another process that migrates or writes. */
const timeoutMs = 10_000

/**
 * Applies missing parts, under the write lock: of two concurrent processes, the second one finds nothing left to do.
 *
 * @param path names the file in messages
 * @param dryRun only say what would be done
 * @returns the statements that were run, or would be
 * @throws StorageError `newer`; what SQLite throws
 */
export async function migrateFile(
  database: DatabaseSync,
  dialect: SqliteDialect,
  schema: Schema,
  path: string,
  dryRun = false,
): Promise<readonly string[]> {
  try {
    return await migrate(migrated(database, dialect, path), schema, dryRun)
  } finally {
    rollback(database)
  }
}

function rollback(database: DatabaseSync): void {
  if (database.isTransaction) database.exec('ROLLBACK')
}

/** @throws StorageError `unavailable` when something is missing, `newer` */
export const requireMigratedFile = (
  database: DatabaseSync,
  dialect: SqliteDialect,
  schema: Schema,
  path: string,
  remedy?: string,
): Promise<void> => requireMigrated(migrated(database, dialect, path), schema, remedy)

const bound = (value: SqlValue) => (typeof value === 'boolean' ? Number(value) : value)

const migrated = (database: DatabaseSync, dialect: SqliteDialect, path: string): MigratedDatabase => ({
  dialect,
  where: path,
  existing: async () => existingIn(database, dialect),
  lock: () => whileBusy(timeoutMs, () => database.exec('BEGIN IMMEDIATE')),
  async run(statements) {
    for (const statement of statements) database.exec(statement)
  },
  query: async (sql, values) => prepared(database, sql, true).all(...values.map(bound)) as unknown as (readonly unknown[])[],
  commit: async () => database.exec('COMMIT'),
  rollback: async () => rollback(database),
})

/** The tables of a dialect that a file has. The version is read first: tables that are older than it would lack their steps. */
export function existingIn(database: DatabaseSync, dialect: SqliteDialect): Existing {
  const { prefix } = dialect
  const made = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(`${prefix}meta`)
  const version = made && Number(database.prepare(versionQuery(dialect)).get()?.['value'] ?? 0)
  const found = database
    .prepare(
      `SELECT s.type, s.name, c.name AS "column" FROM sqlite_schema s LEFT JOIN pragma_table_info(s.name) c ON s.type = 'table'
       WHERE s.type IN ('table', 'index') AND substr(s.name, 1, ${prefix.length}) = ?`,
    )
    .all(prefix)
  const tables = new Map<string, Set<string>>()
  const indexes = new Set<string>()
  for (const { type, name, column } of found) {
    if (type === 'index') indexes.add(String(name))
    else {
      const table = String(name).slice(prefix.length)
      tables.set(table, (tables.get(table) ?? new Set()).add(String(column)))
    }
  }
  return { version, tables, indexes, first: [] }
}
