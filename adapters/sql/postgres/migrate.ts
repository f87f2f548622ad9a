/** Brings a PostgreSQL database to a schema. */
import { StorageError } from '../../../lib/storage/contract.ts'
import { quoted } from '../dialect.ts'
import { type Existing, type MigratedDatabase, migrate, requireMigrated, type Schema, versionQuery } from '../migrations.ts'
import type { PgClient, PgPool } from './connection.ts'
import type { PostgresDialect } from './dialect.ts'
import { storageErrorOf } from './errors.ts'
import { committed, inTransaction } from './transaction.ts'
import { send, sendLong } from './wire/send.ts'

/** Milliseconds to wait for a connection. */
const timeoutMs = 10_000

/**
 * Applies missing parts, under a lock: of two concurrent processes, the second one finds nothing left to do.
 *
 * @param dryRun only say what would be done
 * @returns the statements that were run, or would be
 * @throws StorageError `newer`, `unavailable`, `full`
 */
export const migrateOn = (pool: PgPool, dialect: PostgresDialect, schema: Schema, dryRun = false): Promise<readonly string[]> =>
  within(pool, (client) => migrate(migrated(client, dialect), schema, dryRun))

/** @throws StorageError `unavailable` when something is missing, `newer` */
export const requireMigratedOn = (pool: PgPool, dialect: PostgresDialect, schema: Schema, remedy?: string): Promise<void> =>
  within(pool, (client) => requireMigrated(migrated(client, dialect), schema, remedy))

/** Runs work in a transaction, which it ends. */
const within = <T>(pool: PgPool, work: (client: PgClient) => Promise<T>): Promise<T> =>
  inTransaction(pool, timeoutMs, work).catch((error: unknown) => {
    throw storageErrorOf(error)
  })

const migrated = (client: PgClient, dialect: PostgresDialect): MigratedDatabase => ({
  dialect,
  where: `the schema ${dialect.schema} of this database`,
  existing: () => existingIn(client, dialect),
  async lock() {
    // Building an index may take long.
    await send(client, 'SET LOCAL statement_timeout = 0')
    // A pool may have commits that do not wait for the disk.
    await send(client, 'SET LOCAL synchronous_commit = on')
    // Another process may be building an index.
    await sendLong(client, 'SELECT pg_advisory_xact_lock(hashtext($1))', [`folkmoot migrate ${dialect.schema}`])
  },
  async run(statements) {
    // All in one batch: a hundred statements are a hundred round trips otherwise.
    await sendLong(client, statements.join(';\n'))
  },
  query: async (sql, values) => (await sendLong(client, sql, values)).rows,
  commit: () => committed(send(client, 'COMMIT'), { client }),
  async rollback() {
    await send(client, 'ROLLBACK')
  },
})

/** Encodings that keep every text as it is. */
const encodings: readonly string[] = ['UTF8', 'SQL_ASCII']

/**
 * The tables of a dialect that a database has. The version is read first: tables that are older than it would lack their steps.
 * @throws StorageError `unavailable` when the encoding of the database lacks most letters
 */
export async function existingIn(client: PgClient, dialect: PostgresDialect): Promise<Existing> {
  const { schema } = dialect
  const found = await send(
    client,
    `SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1), to_regclass($2) IS NOT NULL, current_setting('server_encoding'),
       (SELECT nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE extname = 'pg_trgm'
          AND COALESCE(pg_has_role((SELECT relowner FROM pg_class WHERE oid = to_regclass($2)), 'USAGE'), true))`,
    [schema, dialect.table('meta')],
  )
  const [made, hasVersion, encoding, extension] = found.rows[0] ?? []
  if (!encodings.includes(String(encoding)))
    throw new StorageError('unavailable', `the database has the encoding ${encoding}; make one with ENCODING 'UTF8'`)
  const version = hasVersion === 't' ? Number((await send(client, versionQuery(dialect))).rows[0]?.[0] ?? 0) : undefined
  const { rows } = await send(
    client,
    `SELECT c.relkind IN ('i', 'I'), c.relname, a.attname FROM pg_class c
     JOIN pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p')
     WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'i', 'I')`,
    [schema],
  )
  const tables = new Map<string, Set<string>>()
  const indexes = new Set<string>()
  for (const [isIndex, name, column] of rows) {
    if (isIndex === 't') indexes.add(String(name))
    else tables.set(String(name), (tables.get(String(name)) ?? new Set()).add(String(column)))
  }
  const trigrams = typeof extension === 'string' ? extension : undefined
  return { version, tables, indexes, trigrams, first: made === 't' ? [] : [`CREATE SCHEMA ${quoted(schema)}`] }
}
