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

/** The count of a key. */
export interface Used {
  /** Requests in this minute, with those that have just been counted. */
  readonly requests: number
  /** Milliseconds until the minute ends. */
  readonly millisecondsLeft: number
}

/** The database's part of rate limits. */
export interface Counts {
  /**
   * Counts requests of some keys, all of them or none.
   * @param requests how many, by key
   * @returns what each key has used now
   * @throws when the database refuses, or does not answer in time
   */
  add(requests: ReadonlyMap<string, number>): Promise<ReadonlyMap<string, Used>>
  /** Removes the counts of minutes that have ended. */
  sweep(): Promise<void>
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

/** A request that waits for its place in the count. */
type Waiting = (counted: Counted | undefined) => void

interface Counted {
  /** This request's number in its minute, from 1. */
  readonly number: number
  readonly used: Used
}

interface Spent {
  readonly perMinute: number
  /** Monotonic milliseconds. */
  readonly endsAt: number
}

const minute = 60_000

/** @param counts is closed with the limits */
export function sharedRateLimits(counts: Counts, { warn, retryMs }: SharedOptions): SharedRateLimits {
  const alone = rateLimits()
  const spent = new Map<string, Spent>()
  let gathering = new Map<string, Waiting[]>()
  let isCounting = false
  // `close` waits for these.
  let counting: Promise<void> | undefined
  let trying: Promise<void> | undefined
  let sweeping: Promise<void> | undefined
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
    const counted = await place(key)
    if (!counted) return alone.count(key, perMinute)
    const { number, used } = counted
    if (used.requests >= perMinute) spent.set(key, { perMinute, endsAt: performance.now() + used.millisecondsLeft })
    if (number > perMinute) return refusal(used.millisecondsLeft)
    return { allowed: true, remaining: perMinute - number, resetSeconds: used.millisecondsLeft / 1000 }
  }

  /** A request's place in its minute, once its batch has been counted; `undefined` when that failed. */
  function place(key: string): Promise<Counted | undefined> {
    return new Promise((resolve) => {
      const others = gathering.get(key)
      if (others) others.push(resolve)
      else gathering.set(key, [resolve])
      if (!isCounting) counting = countAll()
    })
  }

  async function countAll(): Promise<void> {
    isCounting = true
    try {
      while (gathering.size > 0) {
        // Requests that have arrived together get here in one turn of the event loop, and into one batch.
        await setImmediate()
        await countBatch()
        if (tryAt === undefined) tidy()
      }
    } finally {
      isCounting = false
    }
  }

  async function countBatch(): Promise<void> {
    const batch = gathering
    gathering = new Map()
    try {
      tell(batch, await counts.add(new Map([...batch].map(([key, { length }]) => [key, length]))))
    } catch (error) {
      tryAt = performance.now() + retryMs
      // A request that arrived meanwhile would wait as long, in vain.
      for (const resolve of [...batch.values(), ...gathering.values()].flat()) resolve(undefined)
      gathering = new Map()
      warn(`rate limits: each process counts alone for now: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  /** Asks the database in the background, with a request that is answered without it. */
  function tryAgain(key: string): void {
    tryAt = Number.POSITIVE_INFINITY
    trying = counts.add(new Map([[key, 1]])).then(
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
    sweeping = counts.sweep().catch(() => undefined)
  }

  return {
    count,
    close() {
      closing ??= Promise.all([counting, trying, sweeping]).then(() => counts.close())
      return closing
    },
  }
}

/** Gives each request of a batch its number: the last of them is what its key has used by now. */
function tell(batch: ReadonlyMap<string, readonly Waiting[]>, counted: ReadonlyMap<string, Used>): void {
  for (const [key, waiting] of batch) {
    const used = counted.get(key)
    const before = (used?.requests ?? 0) - waiting.length
    for (const [index, resolve] of waiting.entries()) resolve(used && { number: before + index + 1, used })
  }
}

const refusal = (millisecondsLeft: number): RateCount => ({
  allowed: false,
  remaining: 0,
  resetSeconds: millisecondsLeft / 1000,
})

/** A key as it is stored: a host may name its tokens as it likes. */
const keyOf = (name: string): string => (/^[\w.:@-]{1,200}$/.test(name) ? name : createHash('sha256').update(name).digest('hex'))
