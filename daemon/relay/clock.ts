/** Time, as the relay is given it. Nothing else here reads a clock or sets a timer. */

export interface Clock {
  /** Milliseconds since 1970, as the machine believes; it may jump. */
  now(): number
  /** Milliseconds since some moment; never goes back. */
  monotonic(): number
  /** Calls back once after so many milliseconds. The result cancels it. */
  timer(milliseconds: number, done: () => void): () => void
}

/** Node counts a longer delay as 1 ms. */
const longestTimer = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer(milliseconds, done) {
    const timer = setTimeout(done, Math.min(Math.max(0, milliseconds), longestTimer))
    return () => clearTimeout(timer)
  },
}

/**
 * The time that due times are measured in: the wall clock, except that it never goes back. Without it, a step back of the
 * machine's clock by an hour would delay every retry by an hour. A step forward (or a suspended machine that wakes up) only
 * makes them early.
 * @param from the latest time of an earlier run
 * @returns milliseconds since 1970
 */
export function timeline(clock: Clock, from = 0): () => number {
  let time = Math.max(clock.now(), from)
  let seen = clock.monotonic()
  return () => {
    const monotonic = clock.monotonic()
    time = Math.max(time + (monotonic - seen), clock.now())
    seen = monotonic
    return Math.floor(time)
  }
}
