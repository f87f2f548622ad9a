/** Connections of the package `pg`, and pools of them. */
import type { Client, ClientConfig } from 'pg'
import { StorageError } from '../../../lib/storage/contract.ts'
import { missingPackage } from '../../optional-package.ts'
import type { PgPool } from './connection.ts'
import { unreachable } from './errors.ts'

export interface PoolOptions {
  readonly url: string
  readonly size: number
  /** Milliseconds. */
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  /** How PostgreSQL's own views name the connections. Default `folkmoot`. */
  readonly name?: string
  /** Milliseconds after which an idle connection is closed. Default 10 seconds; 0: never. */
  readonly idleTimeoutMs?: number
  /** Settings of every new connection, as far as the database supports them. Requested anew for each one. */
  readonly settings?: () => Readonly<Record<string, string>>
  /** Whether statements that do not need each other's results travel together. */
  readonly pipeline?: boolean
  /** Notified of every idle connection that breaks. */
  readonly broke?: () => void
}

/** Those settings that the database knows, in one round trip: it may be far away. */
const setting = `SELECT set_config(wanted.name, wanted.value, false) FROM unnest($1::text[], $2::text[]) AS wanted (name, value)
  JOIN pg_settings AS known ON known.name = wanted.name`

/**
 * A pool of the storage's own.
 * @throws StorageError `unavailable` when the package `pg` is not installed
 */
export async function openPool({
  url,
  size,
  connectTimeoutMs,
  statementTimeoutMs,
  name,
  idleTimeoutMs,
  settings = () => ({}),
  pipeline,
  broke,
}: PoolOptions): Promise<PgPool> {
  const { Pool } = await loadPg()
  const pool = new Pool({
    connectionString: url,
    max: size,
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    // The network may lose a response of PostgreSQL.
    ...(statementTimeoutMs > 0 ? { query_timeout: statementTimeoutMs + 5_000 } : {}),
    // A process that hangs in the middle of a transaction must not hold its locks for ever. `settings` may set less.
    idle_in_transaction_session_timeout: 60_000,
    application_name: name ?? 'folkmoot',
    keepAlive: true,
    ...(pipeline ? { pipeline } : {}),
    ...(idleTimeoutMs === undefined ? {} : { idleTimeoutMillis: idleTimeoutMs }),
    // No caller gets the connection before; when this fails because it is broken, that is found out then.
    onConnect: async (client) => {
      const wanted = Object.entries(settings())
      if (wanted.length > 0)
        await client.query(setting, [wanted.map(([name]) => name), wanted.map(([, value]) => value)]).catch(() => undefined)
    },
  })
  // An idle connection that breaks is taken out of the pool; without a listener it would end the process.
  pool.on('error', () => broke?.())
  return pool
}

/**
 * A separate connection, not yet made.
 * @throws StorageError `unavailable` when the package `pg` is not installed, or a file that the address names cannot be read
 */
export async function newClient(config: ClientConfig): Promise<Client> {
  const pg = await loadPg()
  try {
    return new pg.Client(config)
  } catch (error) {
    throw unreachable(error)
  }
}

/** The package `pg`, which is optional. */
async function loadPg() {
  try {
    return (await import('pg')).default
  } catch (error) {
    throw new StorageError('unavailable', missingPackage('PostgreSQL', 'pg'), { cause: error })
  }
}
