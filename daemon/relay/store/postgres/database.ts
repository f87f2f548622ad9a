/** The PostgreSQL database that relays share. */
import pRetry from 'p-retry'
import { quoted } from '../../../../adapters/sql/dialect.ts'
import { isRecordsFault } from '../../../../adapters/sql/faults.ts'
import type { PgClient, PgPool } from '../../../../adapters/sql/postgres/connection.ts'
import { defaultSchema, type PostgresDialect, postgresDialect } from '../../../../adapters/sql/postgres/dialect.ts'
import { faultOf, storageErrorOf, unreachable } from '../../../../adapters/sql/postgres/errors.ts'
import { holdClient } from '../../../../adapters/sql/postgres/hold.ts'
import { migrateOn, requireMigratedOn } from '../../../../adapters/sql/postgres/migrate.ts'
import { openPool } from '../../../../adapters/sql/postgres/pool.ts'
import { committed, inTransaction, readCommittedAlone } from '../../../../adapters/sql/postgres/transaction.ts'
import { nameOf, send } from '../../../../adapters/sql/postgres/wire/send.ts'
import { migratePostgres } from '../../../../adapters/storage/postgres/migrate.ts'
import { isStorageError } from '../../../../lib/storage/contract.ts'
import { NoRelayYet } from '../../../usage.ts'
import { begin, type Plan, rows as planned, type RelayDatabase, type Rows, runStepwise } from '../database.ts'
import { remedy, schemaOf } from '../schema.ts'
import { insertEvents } from './events.ts'

/** Runs statements in a transaction. In those that are for PostgreSQL alone, parameters are named `$1`. */
export interface Session {
  /** The connection itself, in its transaction. */
  readonly client: PgClient
  rows(text: string, values?: readonly unknown[]): Promise<Rows>
  run<T>(plan: Plan<T>): Promise<T>
}

export interface PostgresDatabase extends RelayDatabase {
  /** The schema of the outbox. */
  readonly schema: string
  readonly pool: PgPool
  /** Runs one statement by itself. It may run twice when the connection breaks: it must bear that. */
  rows(text: string, values?: readonly unknown[]): Promise<Rows>
  /** As `rows`, on a connection that nothing else uses, so it never waits for one. */
  rowsAside(text: string, values?: readonly unknown[]): Promise<Rows>
  /**
   * Runs work in one transaction; again when it lost a race or its connection before the end.
   * @param durable whether its commit waits for the disk
   */
  session<T>(work: (session: Session) => Promise<T>, durable?: boolean): Promise<T>
  /** How many connections have broken so far. Unsynced commits on them may be lost. */
  readonly broken: number
}

export interface DatabaseOptions {
  readonly url: string
  readonly schema?: string
  readonly poolSize?: number
  /** Whether all connections are made at the start: later a statement may have to wait for that, several round trips. */
  readonly ready?: boolean
  /** Whether missing tables are made. Default true; else their absence is refused. */
  readonly make?: boolean
  /** Nothing is made or changed, the version of the tables included. */
  readonly looking?: boolean
  /** Settings of the connections over those of every relay. */
  readonly planner?: Readonly<Record<string, string>>
  /** After so many milliseconds without a statement PostgreSQL undoes a transaction, and ends its connection. */
  readonly patience?: () => number
}

/** Milliseconds to wait for a connection, and for a statement. */
const connectTimeoutMs = 10_000
const statementTimeoutMs = 10_000
/** Milliseconds that the transaction of a command may stand still, because all relays may wait for it: well below any lease and two seconds. */
const patienceOfCommands = 2_000
/** How PostgreSQL's views name the connections of relays and of their commands. */
export const connectionName = 'folkmoot-relay'
const settings = {
  ...readCommittedAlone,
  synchronous_commit: 'off',
  // Every statement that counts has an index. A plan that was made while a table was small would scan it when it has grown.
  enable_seqscan: 'off',
  // A body is read once. It would be copied to be found again.
  enable_memoize: 'off',
  // A plan that has to scan counts as dear then, however small its table is. PostgreSQL would compile it for longer than it runs.
  jit: 'off',
  // Results are sent as lists, in which some values are null.
  array_nulls: 'on',
}

/** A list of numbers as PostgreSQL reads it. `pg` would look through each number for characters to quote. */
function listed(value: unknown): unknown {
  if (!Array.isArray(value) || !value.every((each) => typeof each === 'number' || each === null)) return value
  return `{${value.map((each) => each ?? 'NULL').join(',')}}`
}

/** The schema of the relays that share an outbox. */
export const relaySchemaOf = (schema: string): string => `${schema}_relay`

/** SQL for a schema of relays: its name may be longer than that of a storage. */
function dialectOf(schema: string): PostgresDialect {
  const own = relaySchemaOf(postgresDialect(schema).schema)
  return { ...postgresDialect(schema), schema: own, table: (name) => `${quoted(own)}.${quoted(name)}` }
}

/**
 * Opens the database of an outbox, makes the tables of its relays where they are missing, and migrates those of earlier
 * versions.
 *
 * Its commits do not wait for the disk: results of the last moments before a crash of the database are undone, and made again.
 * Transactions that number events and deliveries require more (`durable`). A number that was forgotten is given again, and the
 * response to the one delivery would count for the other.
 *
 * @throws UsageError when tables are missing and are not to be made; StorageError `unavailable`, `newer` when a newer version
 * has made the tables
 */
export async function openDatabase({
  url,
  schema = defaultSchema,
  poolSize = 6,
  ready = false,
  make = true,
  looking = false,
  planner = {},
  patience = () => patienceOfCommands,
}: DatabaseOptions): Promise<PostgresDatabase> {
  if (make) await migratePostgres({ url, schema, tables: [] })
  const dialect = dialectOf(schema)
  const own = quoted(dialect.schema)
  let broken = 0
  const open = (size: number) =>
    openPool({
      url,
      size,
      connectTimeoutMs,
      // To connect takes four round trips and more.
      idleTimeoutMs: 0,
      statementTimeoutMs,
      name: connectionName,
      settings: () => ({
        ...settings,
        ...planner,
        ...(looking ? { default_transaction_read_only: 'on' } : {}),
        idle_in_transaction_session_timeout: String(Math.ceil(patience())),
      }),
      broke: () => void broken++,
    })
  const pool = await open(poolSize)
  const aside = await open(1)

  /** Statements as PostgreSQL takes them, by their text. */
  const written = new Map<string, string>()
  function sqlOf(text: string): string {
    const known = written.get(text)
    if (known !== undefined) return known
    const sql = text.replaceAll('$schema', own).replaceAll(/\?(\d+)/g, '$$$1')
    written.set(text, sql)
    return sql
  }

  async function rowsOn(client: PgClient, text: string, values: readonly unknown[] = []): Promise<Rows> {
    const sql = sqlOf(text)
    try {
      const result = await send(client, sql, values.map(listed), nameOf(sql))
      const names = result.fields.map(({ name }) => name)
      return result.rows.map((row) => {
        const named: Record<string, unknown> = {}
        names.forEach((name, place) => {
          named[name] = row[place]
        })
        return named
      })
    } catch (error) {
      throw storageErrorOf(error)
    }
  }

  const sessionOn = (client: PgClient): Session => ({
    client,
    rows: (text, values) => rowsOn(client, text, values),
    run: (plan) => runStepwise(plan, ({ sql, values }) => rowsOn(client, sql, values)),
  })

  async function one(from: PgPool, text: string, values: readonly unknown[]): Promise<Rows> {
    const { client, release } = await holdClient(from, connectTimeoutMs).catch((error: unknown) => {
      throw unreachable(error)
    })
    try {
      return await rowsOn(client, text, values)
    } finally {
      if (release()) broken++
    }
  }

  const whole = <T>(work: (session: Session) => Promise<T>, durable: boolean): Promise<T> =>
    inTransaction(
      pool,
      connectTimeoutMs,
      async (client) => {
        const session = sessionOn(client)
        if (durable) await waitForDisk(session)
        const value = await work(session)
        await committed(send(client, 'COMMIT'), { client })
        return value
      },
      () => void broken++,
    )

  const retrying = <T>(work: () => Promise<T>): Promise<T> =>
    pRetry(work, {
      retries: 4,
      minTimeout: 20,
      maxTimeout: 500,
      randomize: true,
      shouldRetry: ({ error }) => isStorageError(error) && error.code === 'conflict',
    })

  const rowsOf =
    (from: PgPool) =>
    (text: string, values: readonly unknown[] = []) =>
      retrying(() => one(from, text, values))
  const rows = rowsOf(pool)
  const session = <T>(work: (session: Session) => Promise<T>, durable = false) => retrying(() => whole(work, durable))
  const database: PostgresDatabase = {
    dialect,
    schema,
    pool,
    rows,
    rowsAside: rowsOf(aside),
    session,
    transaction: (plan, durable) => session((within) => within.run(plan()), durable),
    read: (plan) => runStepwise(plan(), ({ sql, values }) => rows(sql, values)),
    isRecordsFault: (error) => isRecordsFault(error, faultOf(error)),
    insertEvents,
    touch,
    *defined(endpoint, version) {
      yield* planned(
        `INSERT INTO $schema.leases (endpoint, touched) VALUES (?1, ?2)
         ON CONFLICT (endpoint) DO UPDATE SET touched = excluded.touched`,
        [endpoint, version],
      )
    },
    *removed(endpoint, version) {
      yield* planned('DELETE FROM $schema.leases WHERE endpoint = ?1 AND relay IS NULL', [endpoint])
      yield* touch([endpoint], version)
    },
    *holdRelays() {
      yield* planned('SELECT id FROM $schema.relays ORDER BY id FOR UPDATE')
    },
    get broken() {
      return broken
    },
    async close() {
      await Promise.all([pool.end(), aside.end()])
    },
  }
  try {
    await prepare(database, dialect, make, looking)
    if (ready) await Promise.all([database.rowsAside('SELECT 1'), ...Array.from({ length: poolSize }, () => rows('SELECT 1'))])
    return database
  } catch (error) {
    await database.close()
    throw error
  }
}

function* touch(endpoints: readonly number[], version: number): Plan<void> {
  if (endpoints.length > 0)
    yield* planned('UPDATE $schema.leases SET touched = ?2 WHERE endpoint = ANY(?1::bigint[])', [endpoints, version])
}

/** In the last SELECT of a statement by itself: its commit waits until it is on the disk. */
export const durably = `set_config('synchronous_commit', 'on', true)`

/** The commit of this transaction waits until it is on the disk. */
export const waitForDisk = (session: Session) => session.rows('SET LOCAL synchronous_commit = on')

async function prepare(database: PostgresDatabase, dialect: PostgresDialect, make: boolean, looking: boolean): Promise<void> {
  const { pool } = database
  const [there] = await database.rows('SELECT to_regclass($1) AS meta', [dialect.table('meta')])
  if (!make && there?.['meta'] == null)
    throw new NoRelayYet(`no relay has run on this outbox yet: there is no schema ${quoted(dialect.schema)} in the database`)
  if (looking) return requireMigratedOn(pool, dialect, schemaOf(dialect), remedy)
  await migrateOn(pool, dialect, schemaOf(dialect))
  await database.transaction(begin)
}
