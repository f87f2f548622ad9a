/** The outbox of a PostgreSQL database, for relays. */
import type { Client } from 'pg'
import * as v from 'valibot'
import type { OutboxSource } from '../../../lib/outbox/source.ts'
import { StorageError } from '../../../lib/storage/contract.ts'
import { checkOptions, flag, type RulesOf, textOf } from '../../options.ts'
import type { PgClient } from '../../sql/postgres/connection.ts'
import { defaultSchema, postgresDialect } from '../../sql/postgres/dialect.ts'
import { storageErrorOf, unreachable } from '../../sql/postgres/errors.ts'
import { postgresUrl } from '../../sql/postgres/place.ts'
import { newClient } from '../../sql/postgres/pool.ts'
import { send } from '../../sql/postgres/wire/send.ts'
import { byBytes, outboxSource, type ParsedCommit, parseCommit } from '../sql/outbox-source.ts'
import { migratePostgres } from './migrate.ts'

/** The notification of a storage after a commit. A hint: a listener that misses it finds the rows by polling. */
export const channelOf = (schema: string): string => `${schema}_outbox`

/** The options of `postgresOutbox`. */
export interface PostgresOutboxOptions {
  /** The address of the database: `postgres://user:password@host/database`. */
  readonly url: string
  /** The schema of the storage's tables: `folkmoot` by default. */
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
 * away for as long as the connection lasts. Relays that share a store use `outboxReader` and
 * `takeFromOutbox` instead.
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

export interface OutboxCommit extends ParsedCommit {
  /** Its place: that of a later commit is higher, but it may be seen earlier. */
  readonly seq: number
}

/** The oldest commits of an outbox, and whether there may be more. */
export interface OutboxPart {
  readonly commits: readonly OutboxCommit[]
  readonly more: boolean
}

/**
 * Reads the oldest commits, for relays that share one store: they leave the outbox later, in the transaction that stores what they hold.
 * @param run runs a statement by itself
 * @param limit bytes read in one piece, or one row
 */
export function outboxReader(
  run: (sql: string, values: readonly unknown[]) => Promise<readonly Readonly<Record<string, unknown>>[]>,
  limit: number,
  schema: string = defaultSchema,
): () => Promise<OutboxPart> {
  const reading = `SELECT "seq", "records" FROM ${postgresDialect(schema).table('outbox')} ORDER BY "seq" LIMIT $1`
  const pieces = byBytes()
  return async () => {
    const found = await run(reading, [pieces.atOnce])
    const rows = found.map((row) => ({ seq: Number(row['seq']), records: String(row['records']) }))
    const { some, more } = pieces.within(rows, limit)
    return { commits: some.map((row) => ({ seq: row.seq, ...parseCommit(row) })), more }
  }
}

/**
 * Takes commits out of the outbox in the caller's transaction: they are gone for other relays if it commits, and there again if it does
 * not. Those that another relay is taking are left to it.
 *
 * @param client a connection inside a transaction
 * @param places the `seq` of commits
 * @returns the places of those that were taken
 */
export async function takeFromOutbox(
  client: PgClient,
  places: readonly number[],
  schema: string = defaultSchema,
): Promise<ReadonlySet<number>> {
  const outbox = postgresDialect(schema).table('outbox')
  const { rows } = await send(
    client,
    `DELETE FROM ${outbox} WHERE "seq" = ANY (ARRAY (
       SELECT "seq" FROM ${outbox} WHERE "seq" = ANY ($1::bigint[]) FOR UPDATE SKIP LOCKED)) RETURNING "seq"`,
    [`{${places.join(',')}}`],
  )
  return new Set(rows.map(([seq]) => Number(seq)))
}
