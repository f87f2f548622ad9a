/** How many attempts one endpoint takes in parallel and per second: doubled by rounds of successes, halved by failures. */

export interface ConcurrencyLimiter {
  /** Attempts that may be in flight. */
  readonly limit: number
  /** Monotonic milliseconds before which the next attempt may not start; 0 when there is no rate. */
  readonly nextStart: number
  started(now: number): void
  /** A round of successes, as many as the limit, doubles the limit. */
  succeeded(): void
  /**
   * An endpoint that begins to fail or hang gives its slots to others before its circuit opens: the limit is halved.
   * @param slow it took its time to fail: it starts over with one
   */
  failed(slow: boolean): void
  /** Slow start: 1, then 2, 4, 8. */
  restart(): void
}

/**
 * Begins slowly: of an endpoint that nobody has heard of yet it is not known whether it answers at all.
 * @param ceiling attempts in flight at most, read again at each use
 * @param ratePerSecond starts per second at most; null: no limit
 */
export function createConcurrencyLimiter(ceiling: () => number, ratePerSecond: number | null): ConcurrencyLimiter {
  let allowed = 1
  let successes = 0
  let nextStart = 0
  const limit = (): number => Math.min(allowed, ceiling())

  return {
    get limit() {
      return limit()
    },
    get nextStart() {
      return nextStart
    },
    started(now) {
      // Evenly spaced rather than a bucket that can be emptied in one burst: no window of a second ever sees more.
      if (ratePerSecond !== null) nextStart = now + 1000 / ratePerSecond
    },
    succeeded() {
      if (allowed >= ceiling()) return
      successes++
      if (successes < allowed) return
      successes = 0
      allowed = limit() * 2
    },
    failed(slow) {
      successes = 0
      allowed = slow ? 1 : Math.max(1, Math.floor(limit() / 2))
    },
    restart() {
      successes = 0
      allowed = 1
    },
  }
}
