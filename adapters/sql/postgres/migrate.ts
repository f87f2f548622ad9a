/** Makes the tables in a PostgreSQL database, and leads those of an earlier version to where they are now. */
import { StorageError } from '../../../lib/storage/contract.ts'
import { tables as allTables } from '../../../lib/storage/tables.ts'
import { quoted } from '../dialect.ts'
import { type Existing, migrationSteps } from '../schema.ts'
import type { TableShape } from '../values.ts'
import { type PgClient, type PgPool, send } from './client.ts'
import { defaultSchema, postgresDialect } from './dialect.ts'
import { commitError, storageErrorOf } from './errors.ts'
import { beginOn, openPool } from './pool.ts'

export interface PostgresMigration {
  readonly url: string
  readonly schema?: string
  /** Only say what would be done. */
  readonly dryRun?: boolean
  /** Other tables than those of the API, for tests. */
  readonly tables?: readonly TableShape[]
}

const patience = 10_000

/**
 * Brings a PostgreSQL database to the data model, in one transaction. Does nothing when it is there.
 *
 * @returns the statements that were run, or would be
 * @throws StorageError `newer`, `unavailable`, `full`
 */
export async function migratePostgres(options: PostgresMigration): Promise<readonly string[]> {
  const { url, schema = defaultSchema, dryRun = false, tables = allTables } = options
  // Building an index may take long, so there is no statement timeout here.
  const pool = await openPool({ url, size: 1, patience, statementTimeout: 0 })
  try {
    return await applySteps(pool, schema, tables, dryRun)
  } finally {
    await pool.end()
  }
}

/** Applies what is missing, under a lock: of two processes at once, the second one finds nothing left to do. */
export async function applySteps(
  pool: PgPool,
  schema: string,
  tables: readonly TableShape[],
  dryRun = false,
): Promise<readonly string[]> {
  // Whatever the database's default: what another process has just made must be seen once the lock is there.
  const { client, release } = await beginOn(pool, 'BEGIN ISOLATION LEVEL READ COMMITTED', patience)
  let broken = true
  try {
    const missing = await stepsFor(client, schema, tables)
    if (missing.length === 0 || dryRun) {
      await send(client, 'ROLLBACK')
      broken = false
      return missing
    }
    await send(client, 'SET LOCAL statement_timeout = 0')
    await send(client, `SELECT pg_advisory_xact_lock(hashtext($1))`, [`folkmoot migrate ${schema}`])
    const steps = await stepsFor(client, schema, tables)
    // All at once: a hundred statements are a hundred round trips otherwise.
    await send(client, steps.join(';\n'))
    await send(client, 'COMMIT').catch((error: unknown) => {
      throw commitError(error)
    })
    broken = false
    return steps
  } catch (error) {
    throw storageErrorOf(error)
  } finally {
    // A connection in an unknown state is thrown away, and its transaction with it.
    release(broken)
  }
}

/** @throws StorageError `unavailable` when something is missing */
export async function requireMigrated(pool: PgPool, schema: string, tables: readonly TableShape[]): Promise<void> {
  const steps = await applySteps(pool, schema, tables, true)
  if (steps.length > 0)
    throw new StorageError(
      'unavailable',
      `schema ${schema} lacks ${steps.length} changes of its tables: run \`folkmoot migrate\` first`,
    )
}

async function stepsFor(client: PgClient, schema: string, tables: readonly TableShape[]): Promise<string[]> {
  const { made, existing } = await existingIn(client, schema)
  const steps = migrationSteps(postgresDialect(schema), tables, existing, `the schema ${schema} of this database`)
  return made ? steps : [`CREATE SCHEMA ${quoted(schema)}`, ...steps]
}

async function existingIn(client: PgClient, schema: string): Promise<{ readonly made: boolean; readonly existing: Existing }> {
  const { rows: schemas } = await send(client, 'SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema])
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
  const meta = tables.has('meta')
    ? await send(client, `SELECT "value" FROM ${postgresDialect(schema).table('meta')} WHERE "name" = 'schema_version'`)
    : undefined
  const version = meta?.rows[0]?.[0]
  return {
    made: schemas.length > 0,
    existing: { version: version === undefined ? undefined : Number(version), tables, indexes },
  }
}
