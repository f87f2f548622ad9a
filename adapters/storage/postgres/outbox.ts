/** The outbox of a PostgreSQL database, for relays. */
import type { Client } from 'pg'
import * as v from 'valibot'
import type { OutboxRecord } from '../../../lib/outbox/record.ts'
import type { Damage, OutboxSource } from '../../../lib/outbox/source.ts'
import { StorageError } from '../../../lib/storage/contract.ts'
import { checkOptions, flag, type RulesOf, textOf } from '../../options.ts'
import { send } from '../../sql/postgres/client.ts'
import type { PgClient } from '../../sql/postgres/connection.ts'
import { defaultSchema, postgresDialect } from '../../sql/postgres/dialect.ts'
import { storageErrorOf, unreachable } from '../../sql/postgres/errors.ts'
import { postgresUrl } from '../../sql/postgres/place.ts'
import { newClient } from '../../sql/postgres/pool.ts'
import { outboxSource, type ParsedCommit, parseCommit } from '../sql/outbox-source.ts'
import { migratePostgres } from './migrate.ts'

/** The notification of a storage after a commit. A hint: a listener that misses it finds the rows by polling. */
export const channelOf = (schema: string): string => `${schema}_outbox`

/** The options of `postgresOutbox`. */
export interface PostgresOutboxOptions {
  readonly url: string
  readonly schema?: string
  /** Whether a second reader is kept away. Default true; false only to look, and then nothing is made or changed. */
  readonly exclusive?: boolean
}

const rules = {
  url: postgresUrl,
  schema: v.optional(textOf('the name of a schema'), defaultSchema),
  exclusive: v.optional(flag, true),
} satisfies RulesOf<PostgresOutboxOptions>

const connectTimeoutMs = 5_000
const statementTimeoutMs = 10_000

/**
 * The outbox in a PostgreSQL database, for one relay that ingests it into a separate store. An advisory lock keeps a second one
 * away for as long as the connection lasts. Relays that share a store use `claimOutbox` instead.
 *
 * @throws StorageError `unavailable`, `newer`, `locked` when another relay reads it
 * @throws TypeError that lists every problem of the options
 */
export async function postgresOutbox(options: PostgresOutboxOptions): Promise<OutboxSource> {
  const { url, schema, exclusive } = checkOptions('postgresOutbox', rules, options, '{ url }')
  if (exclusive) await migratePostgres({ url, schema, tables: [] })
  const dialect = postgresDialect(schema)
  const listeners = new Set<() => void>()
  let connection: Promise<Client> | undefined

  async function open(): Promise<Client> {
    const client = await newClient({
      connectionString: url,
      connectionTimeoutMillis: connectTimeoutMs,
      statement_timeout: statementTimeoutMs,
      application_name: 'folkmoot-relay',
      keepAlive: true,
      ...(exclusive ? {} : { options: '-c default_transaction_read_only=on' }),
    })
    client.on('error', () => {
      connection = undefined
    })
    client.on('notification', () => {
      for (const listener of listeners) listener()
    })
    try {
      await client.connect()
      if (exclusive) {
        await lock(client)
        await send(client, `LISTEN "${channelOf(schema)}"`)
      }
      return client
    } catch (error) {
      await client.end().catch(() => undefined)
      throw unreachable(error)
    }
  }

  async function lock(client: PgClient): Promise<void> {
    const { rows } = await send(client, 'SELECT pg_try_advisory_lock(hashtext($1))', [`folkmoot outbox ${schema}`])
    if (rows[0]?.[0] !== 't')
      throw new StorageError('locked', `another relay reads the outbox of schema ${schema}; stop it first`)
  }

  /** Runs a statement, on a new connection when the last one broke. */
  async function run(text: string, values: readonly unknown[]): Promise<unknown[][]> {
    connection ??= open()
    const opening = connection
    try {
      return (await send(await opening, text, values)).rows
    } catch (error) {
      if (connection === opening) connection = undefined
      opening.then(
        (client) => client.end().catch(() => undefined),
        () => undefined,
      )
      throw storageErrorOf(error)
    }
  }

  connection = open()
  await connection

  return outboxSource({
    dialect,
    run,
    watch(changed) {
      listeners.add(changed)
      return () => void listeners.delete(changed)
    },
    async close() {
      const open = connection
      connection = undefined
      await open?.then((client) => client.end()).catch(() => undefined)
    },
  })
}

/** One commit of the outbox. */
export interface OutboxCommit extends ParsedCommit {
  /** Its place: that of a later commit is higher, but it may be seen earlier. */
  readonly seq: number
}

/**
 * The oldest commits, for relays that share one store: they leave the outbox later, in the statement that stores what they hold.
 * @param run runs a statement by itself
 */
export async function readOutbox(
  run: (sql: string, values: readonly unknown[]) => Promise<readonly Readonly<Record<string, unknown>>[]>,
  limit: number,
  schema: string = defaultSchema,
): Promise<readonly OutboxCommit[]> {
  const outbox = postgresDialect(schema).table('outbox')
  const rows = await run(`SELECT "seq", "records" FROM ${outbox} ORDER BY "seq" LIMIT $1`, [limit])
  return rows.map((row) => {
    const seq = Number(row['seq'])
    return { seq, ...parseCommit({ seq, records: String(row['records']) }) }
  })
}

/** Commits that were taken out of the outbox, oldest first, and what could not be read or used among them. */
export interface ClaimedCommits {
  /** One list for each row that was claimed, empty where nothing of it can be used. */
  readonly commits: readonly (readonly OutboxRecord[])[]
  readonly damage: readonly Damage[]
}

/**
 * Takes commits out of the outbox in the caller's transaction, for relays that share one store. Claimed commits are gone for
 * the others if that transaction commits, and back if it does not. Rows that another relay is claiming are skipped.
 *
 * @param client a connection inside a transaction
 * @param limit at most this many commits
 */
export async function claimOutbox(client: PgClient, limit: number, schema: string = defaultSchema): Promise<ClaimedCommits> {
  const outbox = postgresDialect(schema).table('outbox')
  // PostgreSQL would copy each row once more to put them in order.
  const { rows } = await send(
    client,
    `DELETE FROM ${outbox} WHERE "seq" = ANY (ARRAY (SELECT "seq" FROM ${outbox} ORDER BY "seq" LIMIT $1 FOR UPDATE SKIP LOCKED))
     RETURNING "seq", "records"`,
    [limit],
  )
  const parsed = rows
    .map(([seq, records]) => ({ seq: Number(seq), records: String(records) }))
    .sort((a, b) => a.seq - b.seq)
    .map(parseCommit)
  return { commits: parsed.map(({ records }) => records), damage: parsed.flatMap(({ damage }) => damage) }
}
