/**
 * Rate limits for many machines: a table in the PostgreSQL database of the storage, which every process counts in. The table
 * is not logged, so counting syncs nothing; after a crash of the database it is empty, and the minutes start over.
 *
 * A minute ends by the clock of the database. The store that `rate-limiter-flexible` has for PostgreSQL uses that of each machine:
 * one that is an hour fast would keep a key refused for an hour.
 */
import { createHash } from 'node:crypto'
import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import type { IRateLimiterOptions } from 'rate-limiter-flexible'
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'
import RateLimiterRes from 'rate-limiter-flexible/lib/RateLimiterRes.js'
import RateLimiterStoreAbstract from 'rate-limiter-flexible/lib/RateLimiterStoreAbstract.js'
import * as v from 'valibot'
import type { RateLimiter } from '../../lib/index.ts'
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
import { rateLimits } from './flexible.ts'

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
  /** Notified when the counts cannot be shared, and when they can again. Default `console.warn`. */
  readonly warn?: (sentence: string) => void
}

/** Rate limits that hold a database open. */
export interface SharedRateLimits extends RateLimiter {
  /** Waits for running counts, then closes the connections. May be called twice. */
  close(): Promise<void>
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

/** Milliseconds to connect in, and for a statement; those that no caller waits for any more end by themselves. */
const connectTimeoutMs = 5_000
const statementTimeoutMs = 10_000
/** Milliseconds until a lost race or connection is tried again. */
const pause = 5

/**
 * Rate limits that all processes on one PostgreSQL database count together, to the request (interface.md, 8.2).
 *
 * @returns limits that never refuse because of the database: while it does not respond, each process counts for itself
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
  return sharedRateLimits({ ...table, close: endPool }, warn, retryMs)
}

/** The requests of a key in its minute, and how long that lasts. */
interface MinuteUse {
  readonly requests: number
  readonly millisecondsLeft: number
}

type Count = (key: string, requests: number) => Promise<MinuteUse>

interface CountTable {
  /**
   * Counts requests of some keys, all of them or none.
   * @throws when the database refuses, or does not respond in time
   */
  add(requests: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, MinuteUse>>
  /** Removes the counts of minutes that have ended. */
  sweep(): Promise<unknown>
  close(): Promise<void>
}

interface Batch {
  /** By key. */
  readonly requests: Map<string, number>
  readonly counted: Promise<ReadonlyMap<string, MinuteUse>>
}

/** Counts together what arrives in one turn of the event loop, or while others are counted: a busy process sends few statements. */
function inBatches(add: CountTable['add']): Count {
  let next: Batch | undefined
  let last: Promise<unknown> = Promise.resolve()

  function begin(): Batch {
    const requests = new Map<string, number>()
    const counted = last
      .then(() => setImmediate())
      .then(() => {
        next = undefined
        return add(requests)
      })
    last = counted.catch(() => undefined)
    return { requests, counted }
  }

  return async (key, requests) => {
    next ??= begin()
    const batch = next
    const position = (batch.requests.get(key) ?? 0) + requests
    batch.requests.set(key, position)
    const used = (await batch.counted).get(key)
    if (!used) throw new StorageError('unavailable', 'PostgreSQL returned no count')
    // The count is that of the last request of the batch.
    return { ...used, requests: used.requests - (batch.requests.get(key) ?? 0) + position }
  }
}

/**
 * A store of `rate-limiter-flexible`: a key that has reached its limit is refused from memory until its minute ends, and while the
 * database does not respond, each process counts in memory.
 */
class Counts extends RateLimiterStoreAbstract {
  readonly #count: Count

  constructor(limit: Pick<IRateLimiterOptions, 'points' | 'duration'>, count: Count) {
    // Without a prefix, so that a key whose limit changes continues with its count.
    const shared = { keyPrefix: '', storeClient: count, inMemoryBlockOnConsumed: limit.points }
    super({ ...limit, ...shared, insuranceLimiter: new RateLimiterMemory(limit) })
    this.#count = count
  }

  _upsert(key: string, requests: number): Promise<MinuteUse> {
    return this.#count(key, requests)
  }

  _getRateLimiterRes(_key: string, _requests: number, { requests, millisecondsLeft }: MinuteUse): RateLimiterRes {
    return new RateLimiterRes(Math.max(0, this.points - requests), millisecondsLeft, requests)
  }
}

const minute = 60_000

function sharedRateLimits(table: CountTable, warn: (sentence: string) => void, retryMs: number): SharedRateLimits {
  /** While the database does not respond: when to try it again, in monotonic milliseconds. */
  let tryAt: number | undefined
  let sweptAt = Number.NEGATIVE_INFINITY
  let closing: Promise<void> | undefined
  // `close` waits for these.
  const running = new Set<Promise<unknown>>()

  function run<T>(work: Promise<T>): Promise<T> {
    running.add(work)
    const ended = () => void running.delete(work)
    work.then(ended, ended)
    return work
  }

  function failed(error: unknown): void {
    if (tryAt === undefined)
      warn(`rate limits: each process counts alone for now: ${error instanceof Error ? error.message : String(error)}`)
    tryAt = performance.now() + retryMs
  }

  function succeeded(): void {
    if (tryAt !== undefined) warn('rate limits: the processes count together again')
    tryAt = undefined
    const now = performance.now()
    if (now - sweptAt < minute) return
    sweptAt = now
    // A row too many does no harm, and the next sweep takes it along.
    run(table.sweep()).catch(() => undefined)
  }

  function refuse(): never {
    throw new StorageError('unavailable', 'the counts cannot be shared for now')
  }
  // What arrived while a batch failed would wait as long, for nothing.
  const together = inBatches(async (requests) => (tryAt === undefined ? table.add(requests) : refuse()))

  async function count(key: string, requests: number): Promise<MinuteUse> {
    if (tryAt === undefined) {
      const counting = run(together(key, requests))
      counting.then(succeeded, failed)
      return counting
    }
    if (tryAt <= performance.now()) {
      // In the background, with a request that does not wait for it.
      tryAt = Number.POSITIVE_INFINITY
      run(table.add(new Map([[key, requests]]))).then(succeeded, failed)
    }
    return refuse()
  }

  const limits = rateLimits({ limiter: (limit) => new Counts(limit, count) })
  return {
    async count(key, perMinute) {
      if (closing) throw new StorageError('closed', 'the rate limits are closed; make new ones')
      return limits.count(keyOf(key), perMinute)
    },
    close() {
      closing ??= Promise.allSettled(running).then(() => table.close())
      return closing
    },
  }
}

/** A key as it is stored: a host may name its tokens as it likes. */
const keyOf = (name: string): string => (/^[\w.:@-]{1,200}$/.test(name) ? name : createHash('sha256').update(name).digest('hex'))

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
  // Locked rows are skipped, so that it waits for no other.
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
    const tooLate = () => reject(new StorageError('unavailable', `PostgreSQL did not respond in ${timeoutMs} ms`))
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
    /** Repeated after a lost race or connection: a lost response may count twice, but never not at all. */
    async add(requests) {
      const deadline = performance.now() + timeoutMs
      for (;;) {
        try {
          const rows = await run(addAll, [[...requests.keys()], [...requests.values()]], deadline)
          return new Map(
            rows.map(([key, used, left]) => [String(key), { requests: Number(used), millisecondsLeft: Number(left) }]),
          )
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
