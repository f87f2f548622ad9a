/** When a failed delivery is tried again. */

/** At least this long after a time-out or a 429, in seconds: such a receiver is overloaded. */
const overloadPause = 60
/** A receiver may request at most this, in seconds. */
export const longestRetryAfter = 86_400

/** Seconds to leave an overloaded receiver alone: never more than the longest delay that the operator allows. */
export const overloadDelay = (schedule: readonly number[], overloaded: boolean): number =>
  overloaded ? Math.min(overloadPause, Math.max(...schedule)) : 0

export interface FailedAttempt {
  /** Attempts made so far, this one included. */
  readonly attempts: number
  /** A time-out or a 429. */
  readonly overloaded: boolean
  /** The delay that the receiver requested, in seconds. */
  readonly retryAfter: number | undefined
}

/**
 * Milliseconds until the next attempt, or `undefined` if none is left.
 *
 * The schedule's delay ± 20 %. After an overload it is at least 60 s, but never more than the longest delay of the schedule. It
 * is at least the delay of `Retry-After`, up to 24 h.
 * @param schedule seconds before each attempt
 * @param random a number from 0 to 1
 */
export function nextDelay(schedule: readonly number[], failure: FailedAttempt, random: number): number | undefined {
  const planned = schedule[failure.attempts]
  if (planned === undefined) return undefined
  const penalty = overloadDelay(schedule, failure.overloaded)
  const requestedDelay = Math.min(failure.retryAfter ?? 0, longestRetryAfter)
  return Math.round(1000 * Math.max(planned * (0.8 + 0.4 * random), penalty, requestedDelay))
}
