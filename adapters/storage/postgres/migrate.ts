/** Makes the tables of a storage in a PostgreSQL database, and leads those of an earlier version to where they are now. */
import * as v from 'valibot'
import { tables as allTables } from '../../../lib/storage/tables.ts'
import { anything, checkOptions, flag, type RulesOf, textOf } from '../../options.ts'
import type { PgPool } from '../../sql/postgres/connection.ts'
import { defaultSchema, postgresDialect } from '../../sql/postgres/dialect.ts'
import { migrateOn, requireMigratedOn } from '../../sql/postgres/migrate.ts'
import { postgresUrl } from '../../sql/postgres/place.ts'
import { openPool } from '../../sql/postgres/pool.ts'
import type { TableShape } from '../../sql/values.ts'
import { storageSchema } from '../sql/schema.ts'

/** The options of `migratePostgres`. */
export interface PostgresMigration {
  /** The address of the database: `postgres://user:password@host/database`. */
  readonly url: string
  /** The schema of the tables, which is made if it is missing: `folkmoot` by default. */
  readonly schema?: string
  /** Only say what would be done. */
  readonly dryRun?: boolean
  /** Other tables than those of the API, for tests. */
  readonly tables?: readonly TableShape[]
}

const rules = {
  url: postgresUrl,
  schema: v.optional(textOf('the name of a schema'), defaultSchema),
  dryRun: v.optional(flag, false),
  tables: v.optional(anything<readonly TableShape[]>(), allTables),
} satisfies RulesOf<PostgresMigration>

/**
 * Brings a PostgreSQL database to the data model, in one transaction. Does nothing when it is there.
 *
 * @returns the statements that were run, or would be
 * @throws StorageError `newer`, `unavailable`, `full`
 * @throws TypeError that lists every problem of the options
 */
export async function migratePostgres(options: PostgresMigration): Promise<readonly string[]> {
  const { url, schema, dryRun, tables } = checkOptions('migratePostgres', rules, options, '{ url }')
  // Building an index may take long, so there is no statement timeout here.
  const pool = await openPool({
    ...{ url, size: 1, connectTimeoutMs: 10_000, statementTimeoutMs: 0 },
    // Between its statements there is nothing to do. Servers and relays wait for its locks.
    settings: () => ({ idle_in_transaction_session_timeout: '2000' }),
  })
  try {
    const dialect = postgresDialect(schema)
    return await migrateOn(pool, dialect, storageSchema(dialect, tables), dryRun)
  } finally {
    await pool.end()
  }
}

/**
 * Creates missing tables of a storage, or refuses their lack.
 * @throws StorageError `unavailable` when something is missing and not to be made, `newer`
 */
export async function prepareTables(pool: PgPool, schema: string, tables: readonly TableShape[], make: boolean): Promise<void> {
  const dialect = postgresDialect(schema)
  const wanted = storageSchema(dialect, tables)
  if (make) await migrateOn(pool, dialect, wanted)
  else await requireMigratedOn(pool, dialect, wanted)
}
