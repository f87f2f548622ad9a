/** Makes the tables of a storage in a SQLite file, and leads those of an earlier version to where they are now. */
import { existsSync } from 'node:fs'
import * as v from 'valibot'
import { tables as allTables } from '../../../lib/storage/tables.ts'
import { anything, checkOptions, flag, type RulesOf, sqlitePath } from '../../options.ts'
import { connectionOver, openConnection } from '../../sql/sqlite/connection.ts'
import { sqliteDialect } from '../../sql/sqlite/dialect.ts'
import { storageErrorOf } from '../../sql/sqlite/errors.ts'
import { migrateFile } from '../../sql/sqlite/migrate.ts'
import { DatabaseSync } from '../../sql/sqlite/module.ts'
import type { TableShape } from '../../sql/values.ts'
import { storageSchema } from '../sql/schema.ts'

/** The options of `migrateSqlite`. */
export interface SqliteMigration {
  /** The database file, which is made if it is missing. */
  readonly path: string
  /** Only say what would be done. */
  readonly dryRun?: boolean
  /** Other tables than those of the API, for tests. */
  readonly tables?: readonly TableShape[]
}

const rules = {
  path: sqlitePath,
  dryRun: v.optional(flag, false),
  tables: v.optional(anything<readonly TableShape[]>(), allTables),
} satisfies RulesOf<SqliteMigration>

/**
 * Brings a SQLite file to the data model, in one transaction. Does nothing when it is there.
 *
 * @returns the statements that were run, or would be
 * @throws StorageError `newer`, `damaged`, `unavailable`, `full`
 * @throws TypeError that lists every problem of the options
 */
export async function migrateSqlite(options: SqliteMigration): Promise<readonly string[]> {
  const { path, dryRun, tables } = checkOptions('migrateSqlite', rules, options, "{ path: './data/db.sqlite' }")
  // A dry run makes no file.
  const connection = dryRun && !existsSync(path) ? connectionOver(new DatabaseSync(':memory:'), path) : openConnection(path)
  try {
    return await migrateFile(connection.database, sqliteDialect, storageSchema(sqliteDialect, tables), path, dryRun)
  } catch (error) {
    throw storageErrorOf(error, path)
  } finally {
    connection.close()
  }
}
