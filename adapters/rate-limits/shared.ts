/**
 * One count over many processes, kept in a database.
 *
 * Terms
 * - **Count**: the requests of one key in its minute, which begins with the first of them. The database decides when it ends,
 *   by its own clock, so that the clocks of the machines do not matter.
 * - **Batch**: requests that are counted together: those of one turn of the event loop, and those that arrived during the
 *   previous batch. So a busy process asks the database once for many requests, and still none is let through before it has
 *   been counted.
 * - **Spent**: a key whose count has reached its limit. It is refused from memory until its minute ends, so a flood of requests
 *   does not reach the database.
 * - **Alone**: while the database does not answer, each process counts for itself, in memory.
 */
import { createHash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { RateCount, RateLimiter } from '../../lib/index.ts'
import { StorageError } from '../../lib/storage/contract.ts'
import { rateLimits } from './flexible.ts'

/** The table of the counts. */
export interface CountTable {
  /**
   * Counts requests of some keys, all of them or none.
   * @param requests how many, by key
   * @returns rows of a key, its requests in this minute with these, and the milliseconds until its minute ends
   * @throws when the database refuses, or does not answer in time
   */
  add(requests: ReadonlyMap<string, number>): Promise<readonly (readonly unknown[])[]>
  /** Removes the counts of minutes that have ended. */
  sweep(): Promise<unknown>
  close(): Promise<void>
}

export interface SharedOptions {
  /** Is told when the counts cannot be shared, and when they can again. */
  readonly warn: (sentence: string) => void
  /** Milliseconds until a database that did not answer is tried again. */
  readonly retryMs: number
}

/** Rate limits that hold a database open. */
export interface SharedRateLimits extends RateLimiter {
  /** Waits for running counts, then closes the connection. May be called twice. */
  close(): Promise<void>
}

/** The count of a key. */
interface Used {
  readonly requests: number
  readonly millisecondsLeft: number
}

interface Batch {
  /** Requests by key. */
  readonly requests: Map<string, number>
  /** The counts with this batch, by key; `undefined` when counting failed. */
  readonly counted: Promise<ReadonlyMap<string, Used> | undefined>
  readonly settle: (counted: ReadonlyMap<string, Used> | undefined) => void
}

function newBatch(): Batch {
  const { promise, resolve } = Promise.withResolvers<ReadonlyMap<string, Used> | undefined>()
  return { requests: new Map(), counted: promise, settle: resolve }
}

interface Spent {
  readonly perMinute: number
  /** Monotonic milliseconds. */
  readonly endsAt: number
}

const minute = 60_000

/** @param table is closed with the limits */
export function sharedRateLimits(table: CountTable, { warn, retryMs }: SharedOptions): SharedRateLimits {
  const alone = rateLimits()
  const spent = new Map<string, Spent>()
  /** The requests that arrive now. */
  let next = newBatch()
  // `close` waits for these.
  let counting: Promise<void> | undefined
  let trying: Promise<void> | undefined
  let sweeping: Promise<unknown> | undefined
  /** While the database does not answer: when to try it again. */
  let tryAt: number | undefined
  let sweptAt = Number.NEGATIVE_INFINITY
  let closing: Promise<void> | undefined

  async function count(name: string, perMinute: number): Promise<RateCount> {
    if (closing) throw new StorageError('closed', 'the rate limits are closed; make new ones')
    const key = keyOf(name)
    const now = performance.now()
    const known = spent.get(key)
    if (known && known.endsAt > now && perMinute <= known.perMinute) return refusal(known.endsAt - now)
    if (tryAt !== undefined) {
      if (tryAt <= now) tryAgain(key)
      return alone.count(key, perMinute)
    }
    const batch = next
    const position = (batch.requests.get(key) ?? 0) + 1
    batch.requests.set(key, position)
    counting ??= countAll()
    const used = (await batch.counted)?.get(key)
    if (!used) return alone.count(key, perMinute)
    // The count is that of the last request of the batch.
    const number = used.requests - (batch.requests.get(key) ?? 0) + position
    if (used.requests >= perMinute) spent.set(key, { perMinute, endsAt: performance.now() + used.millisecondsLeft })
    if (number > perMinute) return refusal(used.millisecondsLeft)
    return { allowed: true, remaining: perMinute - number, resetSeconds: used.millisecondsLeft / 1000 }
  }

  async function countAll(): Promise<void> {
    while (next.requests.size > 0) {
      // Requests that have arrived together get here in one turn of the event loop, and into one batch.
      await setImmediate()
      const batch = next
      next = newBatch()
      try {
        batch.settle(countsIn(await table.add(batch.requests)))
        tidy()
      } catch (error) {
        tryAt = performance.now() + retryMs
        // A request that arrived in between would wait as long, for nothing.
        for (const each of [batch, next]) each.settle(undefined)
        next = newBatch()
        warn(`rate limits: each process counts alone for now: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
    counting = undefined
  }

  /** Asks the database in the background, with a request that is answered without it. */
  function tryAgain(key: string): void {
    tryAt = Number.POSITIVE_INFINITY
    trying = table.add(new Map([[key, 1]])).then(
      () => {
        tryAt = undefined
        warn('rate limits: the processes count together again')
      },
      () => {
        tryAt = performance.now() + retryMs
      },
    )
  }

  function tidy(): void {
    const now = performance.now()
    if (now - sweptAt < minute) return
    sweptAt = now
    for (const [key, { endsAt }] of spent) if (endsAt <= now) spent.delete(key)
    // A row too many does no harm, and the next sweep takes it along.
    sweeping = table.sweep().catch(() => undefined)
  }

  return {
    count,
    close() {
      closing ??= Promise.all([counting, trying, sweeping]).then(() => table.close())
      return closing
    },
  }
}

const countsIn = (rows: readonly (readonly unknown[])[]): ReadonlyMap<string, Used> =>
  new Map(rows.map(([key, used, left]) => [String(key), { requests: Number(used), millisecondsLeft: Number(left) }]))

const refusal = (millisecondsLeft: number): RateCount => ({
  allowed: false,
  remaining: 0,
  resetSeconds: millisecondsLeft / 1000,
})

/** A key as it is stored: a host may name its tokens as it likes. */
const keyOf = (name: string): string => (/^[\w.:@-]{1,200}$/.test(name) ? name : createHash('sha256').update(name).digest('hex'))
