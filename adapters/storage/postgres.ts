/**
 * The storage for many machines: PostgreSQL, through `pg`. Rows are in real columns of a separate schema, events in a table
 * next to them, both in one transaction. Works unchanged on clusters that speak PostgreSQL.
 *
 * Transactions that write run at READ COMMITTED. Guards and unique keys keep two of them apart, and a guard is checked again
 * after waiting for a row. Those that only read have one snapshot for all that they read.
 */
import '../node-version.ts'
import * as v from 'valibot'
import type { Storage, Tx } from '../../lib/storage/contract.ts'
import { tables as allTables } from '../../lib/storage/tables.ts'
import { anything, callable, checkOptions, count, flag, positive, type RulesOf, textOf } from '../options.ts'
import { withSchema } from '../sql/postgres/address.ts'
import { isPipelined, type PgClient, type PgPool } from '../sql/postgres/connection.ts'
import { defaultSchema, postgresDialect } from '../sql/postgres/dialect.ts'
import { notifierOver } from '../sql/postgres/notifier.ts'
import { postgresPool, postgresUrl, requirePlace } from '../sql/postgres/place.ts'
import { openPool } from '../sql/postgres/pool.ts'
import { beginReadCommitted, committed, inTransactionAhead } from '../sql/postgres/transaction.ts'
import type { Statement } from '../sql/statement.ts'
import { statementsOf } from '../sql/statements.ts'
import type { TableShape } from '../sql/values.ts'
import { nestingIn } from './nesting.ts'
import { prepareTables } from './postgres/migrate.ts'
import { nestedIn } from './postgres/nested.ts'
import { channelOf } from './postgres/outbox.ts'
import { openSnapshot } from './postgres/snapshot.ts'
import { runIn, transactionOn } from './postgres/transaction.ts'
import { type Language, named } from './postgres/transaction-sender.ts'
import { runningWork } from './sql/running-work.ts'
import { sharedSnapshots } from './sql/snapshots.ts'
import { sqlStorage } from './sql/storage.ts'

export type { PgClient, PgPool } from '../sql/postgres/connection.ts'
export { migratePostgres, type PostgresMigration } from './postgres/migrate.ts'
export { type PostgresOutboxOptions, postgresOutbox } from './postgres/outbox.ts'

/** The options of `postgresStorage`: `url` or `pool`. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url?: string | undefined
  /**
   * A host's own pool instead of `url`. It keeps its limits and time-outs, and the storage does not close it. A pool with
   * `pipeline: true` is quicker, because independent statements travel together.
   */
  readonly pool?: PgPool
  /** The schema of the tables, created if it is missing. Default `folkmoot`. */
  readonly schema?: string
  /** Whether the storage creates missing tables, columns and indexes when it opens. Default true; if false they are refused. */
  readonly migrate?: boolean
  /** Maximum number of connections. Default 10. */
  readonly poolSize?: number
  /** Milliseconds to wait for a free connection, before `unavailable`. Default 5,000. */
  readonly connectTimeoutMs?: number
  /** Milliseconds until PostgreSQL cancels a statement, lock waits included. Default 10,000. */
  readonly statementTimeoutMs?: number
  /** Whether statements are prepared under names. Default true; use false for a pooler that cannot share them. */
  readonly prepared?: boolean
  /** Other tables than those of the API, for tests. */
  readonly tables?: readonly TableShape[]
  /** Called with every statement, for tests. */
  readonly onStatement?: (statement: Statement) => void
}

/** A storage in PostgreSQL, which can work within a transaction of the host. */
export interface PostgresStorage extends Storage {
  /**
   * A storage whose transactions are part of one that the host has open. The host's rows, the API's rows and the events commit
   * together, when the host commits. Each is a savepoint there, so one that throws undoes only itself. Closing it does nothing.
   *
   * @param client the host's connection, inside a transaction (`BEGIN`)
   */
  using(client: PgClient): Storage
}

/** Reads that share a snapshot at most: they run one after another, on one of several connections. */
const maxReads = 16

const rules = {
  url: v.optional(postgresUrl),
  pool: v.optional(postgresPool),
  schema: v.optional(textOf('the name of a schema'), defaultSchema),
  migrate: v.optional(flag, true),
  poolSize: v.optional(count, 10),
  connectTimeoutMs: v.optional(positive, 5_000),
  statementTimeoutMs: v.optional(positive, 10_000),
  prepared: v.optional(flag, true),
  tables: v.optional(anything<readonly TableShape[]>(), allTables),
  onStatement: v.optional(callable<NonNullable<PostgresOptions['onStatement']>>()),
} satisfies RulesOf<PostgresOptions>

/**
 * Opens a PostgreSQL database, and creates missing parts in it.
 *
 * @throws StorageError `unavailable` when it cannot be reached, `newer` when a newer version has migrated it
 * @throws TypeError when neither `url` nor `pool` is given, or `pg` is not installed
 */
export async function postgresStorage(options: PostgresOptions): Promise<PostgresStorage> {
  const checked = checkOptions('postgresStorage', rules, options, '{ url }')
  const { url, schema, migrate, poolSize, connectTimeoutMs, statementTimeoutMs, prepared, tables, onStatement } = checked
  requirePlace('postgresStorage', options)
  const dialect = postgresDialect(schema)
  const language: Language = { dialect, statements: statementsOf(dialect), prepared, onStatement }
  const pool =
    options.pool ?? (await openPool({ url: url ?? '', size: poolSize, connectTimeoutMs, statementTimeoutMs, pipeline: true }))
  const endPool = async () => {
    if (!options.pool) await pool.end()
  }
  try {
    await prepareTables(pool, schema, tables, migrate)
  } catch (error) {
    await endPool()
    throw error
  }

  const notifier = notifierOver(pool, channelOf(schema))
  const work = runningWork()
  const nesting = nestingIn()
  const snapshots = sharedSnapshots({
    open: () => openSnapshot(pool, language, connectTimeoutMs, work.hold, options.pool !== undefined),
    maxReads: isPipelined(pool) ? maxReads : 1,
    statements: language.statements,
    nesting,
  })

  const write = <T>(task: (tx: Tx) => Promise<T>): Promise<T> =>
    inTransactionAhead(pool, named(language, beginReadCommitted), connectTimeoutMs, async (beginning) => {
      const transaction = transactionOn(beginning, language)
      const value = await runIn(transaction, language, false, task)
      const ended = transaction.endWith('COMMIT')
      // A host's own statements must not fail because of ours.
      if (transaction.hasBegun() && !options.pool) beginning.handOn()
      await committed(ended, beginning.begun)
      if (transaction.appended()) notifier.notify()
      return value
    })

  async function end(): Promise<void> {
    await notifier.settled()
    await endPool()
  }

  return {
    // Of few connections none can be spared, and those of a host are for the host to share out.
    ...sqlStorage({ work, nesting, snapshots, write, end, holdsSnapshots: !options.pool && poolSize >= 5 }),
    using: (client) => nestedIn(client, language),
    ...(url === undefined ? {} : { outbox: withSchema(url, schema) }),
  }
}
