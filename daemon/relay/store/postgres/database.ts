/** The connections of a relay to the PostgreSQL database that it shares with others. */
import pRetry from 'p-retry'
import { nameOf, type PgClient, type PgPool, send } from '../../../../adapters/sql/postgres/client.ts'
import { defaultSchema } from '../../../../adapters/sql/postgres/dialect.ts'
import { commitError, endsConnection, storageErrorOf, unreachable } from '../../../../adapters/sql/postgres/errors.ts'
import { beginOn, type Held, holdClient, openPool } from '../../../../adapters/sql/postgres/pool.ts'
import { migratePostgres } from '../../../../adapters/storage/postgres/migrate.ts'

import { isStorageError, StorageError } from '../../../../lib/storage/contract.ts'
import { NoRelayYet } from '../../../usage.ts'
import type { SqlRow } from '../rows.ts'
import { migrations, relaySchemaOf, schemaVersion, tables } from './schema.ts'

/** Runs statements; `$schema` in them stands for the schema of the relays. */
export interface Session {
  /** The connection itself, in its transaction. */
  readonly client: PgClient
  rows(text: string, values?: readonly unknown[]): Promise<readonly SqlRow[]>
}

export interface Database {
  readonly url: string
  /** The schema of the outbox. */
  readonly schema: string
  readonly pool: PgPool
  /** Runs one statement by itself. It may run twice when the connection breaks: it must bear that. */
  rows(text: string, values?: readonly unknown[]): Promise<readonly SqlRow[]>
  /** Runs work in one transaction; again when it lost a race or its connection before the end. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T>
  /** How many connections have broken so far. What the database had promised on them may be gone with it. */
  readonly broken: number
  close(): Promise<void>
}

export interface DatabaseOptions {
  readonly url: string
  readonly schema?: string
  /** Connections at once. */
  readonly poolSize?: number
  /** Whether missing tables are made. Default true; else their absence is refused. */
  readonly make?: boolean
  /** Nothing is made or changed, the version of the tables included. */
  readonly looking?: boolean
}

/** Milliseconds to wait for a connection, and for a statement. */
const connectTimeoutMs = 5_000
const statementTimeoutMs = 10_000
const settings = {
  synchronous_commit: 'off',
  // Every statement that counts has an index. A plan that was made while a table was small would scan it when it has grown.
  enable_seqscan: 'off',
}

/**
 * Opens the database of an outbox, and makes the tables of its relays where they are missing.
 *
 * Its commits do not wait for the disk: results of the last moments before a crash of the database are undone, and made again.
 * Whoever needs more says so (`durable`). That is who gives numbers to events and deliveries: a number that was forgotten is
 * given again, and the answer to the one delivery would count for the other.
 *
 * @throws UsageError when tables are missing and are not to be made; StorageError `unavailable`, `newer` when a newer version has made the tables
 */
export async function openDatabase({
  url,
  schema = defaultSchema,
  poolSize = 4,
  make = true,
  looking = false,
}: DatabaseOptions): Promise<Database> {
  if (make) await migratePostgres({ url, schema, tables: [] })
  const own = `"${relaySchemaOf(schema)}"`
  let broken = 0
  const pool = await openPool({
    url,
    size: poolSize,
    connectTimeoutMs,
    statementTimeoutMs,
    name: 'folkmoot-relay',
    settings: looking ? { ...settings, default_transaction_read_only: 'on' } : settings,
    broke: () => void broken++,
  })

  const sessionOn = (client: PgClient): Session => ({
    client,
    async rows(text, values = []) {
      const sql = text.replaceAll('$schema', own)
      try {
        const result = await send(client, sql, values, nameOf(sql))
        const names = result.fields.map(({ name }) => name)
        return result.rows.map((row) => Object.fromEntries(names.map((name, place) => [name, row[place] ?? null])))
      } catch (error) {
        throw storageErrorOf(error)
      }
    },
  })

  async function within<T>(held: Held, work: (session: Session) => Promise<T>): Promise<T> {
    let lost = true
    try {
      const value = await work(sessionOn(held.client))
      lost = false
      return value
    } catch (error) {
      lost = endsConnection(error)
      throw error
    } finally {
      if (lost) broken++
      held.release(lost)
    }
  }

  async function one(text: string, values: readonly unknown[]): Promise<readonly SqlRow[]> {
    const held = await holdClient(pool, connectTimeoutMs).catch((error: unknown) => {
      throw unreachable(error)
    })
    return within(held, (session) => session.rows(text, values))
  }

  async function whole<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return within(await beginOn(pool, 'BEGIN', connectTimeoutMs), async (session) => {
      try {
        const value = await work(session)
        await commit(session.client)
        return value
      } catch (error) {
        if (!endsConnection(error))
          await send(session.client, 'ROLLBACK').catch((failed: unknown) => {
            throw storageErrorOf(failed)
          })
        throw error
      }
    })
  }

  const retrying = <T>(work: () => Promise<T>): Promise<T> =>
    pRetry(work, {
      retries: 4,
      minTimeout: 20,
      maxTimeout: 500,
      randomize: true,
      shouldRetry: ({ error }) => isStorageError(error) && error.code === 'conflict',
    })

  const database: Database = {
    url,
    schema,
    pool,
    rows: (text, values = []) => retrying(() => one(text, values)),
    transaction: (work) => retrying(() => whole(work)),
    get broken() {
      return broken
    },
    close: () => pool.end(),
  }
  try {
    await prepare(database, own, make, looking)
    return database
  } catch (error) {
    await pool.end()
    throw error
  }
}

/** In a transaction: its commit waits until it is on the disk. */
export const durable = (session: Session) => session.rows('SET LOCAL synchronous_commit = on')

async function commit(client: PgClient): Promise<void> {
  const { command } = await send(client, 'COMMIT').catch((error: unknown) => {
    throw commitError(error)
  })
  if (command !== 'COMMIT') throw new StorageError('unavailable', 'PostgreSQL has rolled back the transaction')
}

/** Makes the tables, or brings them to this version. */
async function prepare(database: Database, own: string, make: boolean, looking: boolean): Promise<void> {
  await database.transaction(async (session) => {
    await durable(session)
    // Of two relays that start at once the second one finds everything made.
    await session.rows('SELECT pg_advisory_xact_lock(hashtext($1))', [`folkmoot relay ${own}`])
    const [made] = await session.rows(`SELECT to_regclass($1) AS meta`, [`${own}.meta`])
    if (made?.['meta'] == null && !make)
      throw new NoRelayYet(`no relay has run on this outbox yet: there is no schema ${own} in the database`)
    if (made?.['meta'] == null) {
      // Several statements at once cannot be prepared under a name.
      await send(session.client, `CREATE SCHEMA IF NOT EXISTS ${own}; ${tables(own)}`)
      return
    }
    const [row] = await session.rows(`SELECT value FROM $schema.meta WHERE name = 'schema_version'`)
    const version = Number(row?.['value'])
    if (version > schemaVersion) {
      const text = `the relay tables in ${own} were made by a newer version (${version}, this one supports ${schemaVersion})`
      throw new StorageError('newer', text)
    }
    if (version === schemaVersion || looking) return
    for (let from = version; from < schemaVersion; from++) await send(session.client, migrations[from]?.(own) ?? '')
    await session.rows(`UPDATE $schema.meta SET value = $1 WHERE name = 'schema_version'`, [schemaVersion])
  })
}
