/** The retry decision of a delivery after an attempt's outcome: whether and when it is tried again. Pure. */
import { isEndpointFailure, isOverload, isRefusal, type Outcome } from '../../send/outcome.ts'
import type { Result, Waiting } from '../../store/store.ts'

/** Statuses that request a pause of the whole endpoint, if the response says for how long. */
const pausing = new Set([429, 503])

export interface RetryDecision {
  readonly result: Result
  /** The endpoint is not to be sent anything before this time. */
  readonly pauseUntil: number | undefined
  /** Why the endpoint is not to be sent anything any more. */
  readonly disable: string | undefined
}

/**
 * Whether a probe leaves its delivery as it was: it failed for a reason that is the endpoint's. Not for ever: once the delivery has been
 * due for as long as the whole schedule takes, a probe is an attempt like any other.
 */
function isSpared({ due }: Waiting, outcome: Outcome, schedule: readonly number[], now: number): boolean {
  const whole = 1000 * schedule.reduce((sum, delay) => sum + delay, 0)
  return isEndpointFailure(outcome) && !isRefusal(outcome) && now - due < whole
}

/**
 * @param schedule seconds before each attempt
 * @param now the relay's timeline
 * @param random a number from 0 to 1
 * @param probe whether the circuit was open
 */
export function decideRetry(
  waiting: Waiting,
  outcome: Outcome,
  schedule: readonly number[],
  now: number,
  random: number,
  probe = false,
): RetryDecision {
  const attempts = waiting.attempts + 1
  const { status, milliseconds, retryAfter, responseBody: answer = null, responseHeaders: answer_headers = null } = outcome
  const reason = outcome.reason === String(status) ? null : outcome.reason
  const common = {
    delivery: waiting.delivery,
    attempts,
    at: now,
    milliseconds,
    status,
    outcome: outcome.result,
    answer,
    answer_headers,
    reason,
  }
  if (outcome.result === 'delivered')
    return { result: { ...common, state: 'delivered', due: waiting.due }, pauseUntil: undefined, disable: undefined }

  // Nothing left this machine, and no attempt is used up. The next one is when the proxy may work again.
  if (outcome.result === 'proxy_failed') {
    const result = { ...common, attempts: waiting.attempts, state: 'pending', due: waiting.due } as const
    return { result, pauseUntil: undefined, disable: undefined }
  }

  if (probe && isSpared(waiting, outcome, schedule, now)) {
    const requestedDelay = Math.max(overloadDelay(schedule, isOverload(outcome)), Math.min(retryAfter ?? 0, longestRetryAfter))
    const result = { ...common, attempts: waiting.attempts, state: 'pending', due: waiting.due } as const
    return { result, pauseUntil: requestedDelay > 0 ? now + requestedDelay * 1000 : undefined, disable: undefined }
  }

  // No later attempt would find another body.
  const last = outcome.result === 'damaged'
  const delay = last ? undefined : nextDelay(schedule, { attempts, overloaded: isOverload(outcome), retryAfter }, random)
  // 410: the receiver is gone for good. Its events wait for an operator's decision, whatever attempts are left.
  const gone = status === 410
  const pause = status !== null && pausing.has(status) && retryAfter !== undefined
  return {
    result: { ...common, state: delay === undefined && !gone ? 'dead' : 'pending', due: now + (delay ?? 0) },
    pauseUntil: pause ? now + Math.min(retryAfter, longestRetryAfter) * 1000 : undefined,
    disable: gone ? 'the receiver responded with 410 Gone' : undefined,
  }
}

/** At least this long after a time-out or a 429, in seconds: such a receiver is overloaded. */
const overloadPause = 60
/** A receiver may request at most this, in seconds. */
const longestRetryAfter = 86_400

/** Seconds to leave an overloaded receiver alone: never more than the longest delay that the operator allows. */
const overloadDelay = (schedule: readonly number[], overloaded: boolean): number =>
  overloaded ? Math.min(overloadPause, Math.max(...schedule)) : 0

interface FailedAttempt {
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
