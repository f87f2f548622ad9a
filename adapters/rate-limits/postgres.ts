/**
 * Rate limits for many machines: a table in the PostgreSQL database of the storage, which every process counts in. The table
 * is not logged, so counting syncs nothing; after a crash of the database it is empty, and the minutes start over.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { StorageError } from '../../lib/storage/contract.ts'
import { callable, checkOptions, flag, positive, type RulesOf, textOf } from '../options.ts'
import type { PgPool } from '../sql/postgres/connection.ts'
import { defaultSchema, postgresDialect } from '../sql/postgres/dialect.ts'
import { faultOf, unreachable } from '../sql/postgres/errors.ts'
import { holdClient } from '../sql/postgres/hold.ts'
import { postgresPool, postgresUrl, requirePlace } from '../sql/postgres/place.ts'
import { openPool } from '../sql/postgres/pool.ts'
import { readCommittedAlone } from '../sql/postgres/transaction.ts'
import { nameOf, send } from '../sql/postgres/wire/send.ts'
import { prepareTables } from '../storage/postgres/migrate.ts'
import { type CountTable, type SharedRateLimits, sharedRateLimits } from './shared.ts'

/** The database of the counts, and how long requests wait for it. */
export interface PostgresRateLimitOptions {
  /** `postgres://user:password@host:port/database`, as `postgresStorage` has it. One connection is opened to it. */
  readonly url?: string | undefined
  /** A host's own pool instead of `url`: one connection of it is used at a time, and it is not closed. */
  readonly pool?: PgPool
  /** The schema of the table, which is made where it is missing. Default `folkmoot`. */
  readonly schema?: string
  /** Whether the table is made on opening where it is missing. Default true; else its lack is refused. */
  readonly migrate?: boolean
  /** Milliseconds that a request waits for its count, before this process counts for itself. Default 1,000. */
  readonly timeoutMs?: number
  /** Milliseconds until counts that could not be shared are tried again. Default 5,000. */
  readonly retryMs?: number
  /** Whether statements are prepared under names. Default true; false for a pooler that cannot share them. */
  readonly prepared?: boolean
  /** Is told when the counts cannot be shared, and when they can again. Default `console.warn`. */
  readonly warn?: (sentence: string) => void
}

const rules = {
  url: v.optional(postgresUrl),
  pool: v.optional(postgresPool),
  schema: v.optional(textOf('the name of a schema'), defaultSchema),
  migrate: v.optional(flag, true),
  timeoutMs: v.optional(positive, 1_000),
  retryMs: v.optional(positive, 5_000),
  prepared: v.optional(flag, true),
  warn: v.optional(callable<NonNullable<PostgresRateLimitOptions['warn']>>(), () => console.warn),
} satisfies RulesOf<PostgresRateLimitOptions>

/** Milliseconds to connect in, and for a statement; those that nobody waits for any more end by themselves. */
const connectTimeoutMs = 5_000
const statementTimeoutMs = 10_000
/** Milliseconds until a lost race or connection is tried again. */
const pause = 5

/**
 * Rate limits that all processes on one PostgreSQL database count together, to the request (interface.md, 8.2).
 *
 * @returns limits that never refuse because of the database: while it does not answer, each process counts for itself
 * @throws StorageError `unavailable` when it cannot be reached or the table is missing, `newer` when a newer version has
 *   migrated it
 * @throws TypeError that lists every option that is malformed or unknown; also when neither `url` nor `pool` is given, or `pg`
 *   is not installed
 */
export async function postgresRateLimits(options: PostgresRateLimitOptions): Promise<SharedRateLimits> {
  const checked = checkOptions('postgresRateLimits', rules, options, '{ url }')
  const { url, schema, migrate, timeoutMs, retryMs, prepared, warn } = checked
  requirePlace('postgresRateLimits', options)
  const pool =
    options.pool ??
    (await openPool({
      url: url ?? '',
      size: 1,
      connectTimeoutMs,
      statementTimeoutMs,
      name: 'folkmoot-rate-limits',
      settings: () => readCommittedAlone,
    }))
  const endPool = async () => {
    if (!options.pool) await pool.end()
  }
  try {
    await prepareTables(pool, schema, [], migrate)
  } catch (error) {
    await endPool()
    throw error
  }
  const table = countTable(pool, postgresDialect(schema).table('rate_limits'), timeoutMs, prepared)
  return sharedRateLimits({ ...table, close: endPool }, { warn, retryMs })
}

function countTable(pool: PgPool, table: string, timeoutMs: number, prepared: boolean): Omit<CountTable, 'close'> {
  // A minute that ends later than in two was begun before the clock was set back. One minute would be too strict: a statement
  // that waits for a row is older than the minute which the other one has begun.
  const running = (row: string) => `${row}."ends_at" > now() AND ${row}."ends_at" <= now() + interval '2 minutes'`
  // In the order of the keys, so that two batches never wait for each other.
  const addAll = `INSERT INTO ${table} AS c ("key", "used", "ends_at")
    SELECT "key", "used", now() + interval '1 minute' FROM unnest($1::text[], $2::integer[]) AS u ("key", "used") ORDER BY "key" COLLATE "C"
    ON CONFLICT ("key") DO UPDATE SET
      "used" = CASE WHEN ${running('c')} THEN c."used" + excluded."used" ELSE excluded."used" END,
      "ends_at" = CASE WHEN ${running('c')} THEN c."ends_at" ELSE excluded."ends_at" END
    RETURNING "key", "used", extract(epoch FROM "ends_at" - now()) * 1000`
  // Locked rows are skipped, so that it waits for nobody.
  const sweepAll = `DELETE FROM ${table} WHERE "key" IN
    (SELECT "key" FROM ${table} AS c WHERE NOT (${running('c')}) FOR UPDATE SKIP LOCKED)`

  /**
   * Runs a statement. A connection on which that fails, or takes too long, is thrown away. One that lost a race is as good as before:
   * pools of hosts whose default is `serializable` lose some.
   * @param deadline monotonic milliseconds
   */
  async function run(sql: string, values: readonly unknown[], deadline: number): Promise<readonly (readonly unknown[])[]> {
    const { client, release } = await holdClient(pool, Math.max(1, Math.ceil(deadline - performance.now())))
    const { promise: late, reject } = Promise.withResolvers<never>()
    const tooLate = () => reject(new StorageError('unavailable', `PostgreSQL did not answer in ${timeoutMs} ms`))
    const timer = setTimeout(tooLate, deadline - performance.now())
    let broken = false
    try {
      const { rows } = await Promise.race([send(client, sql, values, prepared ? nameOf(sql) : undefined), late])
      return rows
    } catch (error) {
      broken = faultOf(error) !== 'race'
      throw error
    } finally {
      clearTimeout(timer)
      release(broken)
    }
  }

  return {
    /** Repeated after a lost race or connection: a lost answer may count twice, but never not at all. */
    async add(requests) {
      const deadline = performance.now() + timeoutMs
      for (;;) {
        try {
          return await run(addAll, [[...requests.keys()], [...requests.values()]], deadline)
        } catch (error) {
          const fault = faultOf(error)
          if ((fault !== 'race' && fault !== 'lost') || performance.now() + pause > deadline) throw unreachable(error)
          await sleep(pause)
        }
      }
    },
    sweep: () => run(sweepAll, [], performance.now() + timeoutMs),
  }
}
