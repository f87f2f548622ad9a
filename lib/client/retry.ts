/** Which failures are tried again, and when. */
import { type ClientError, isClientError } from './errors.ts'
import type { CallOptions, Settings } from './options.ts'
import { pause, type Timing } from './timing.ts'

const always: ReadonlySet<number> = new Set([408, 429, 503])
/** Faults that stay, however often the request is sent. */
const never: ReadonlySet<number> = new Set([501, 505])

/** The facts of a request that decide on its repetition. */
export interface RepetitionFacts {
  readonly method: string
  /** Its body can be sent once, so it is never tried again. */
  readonly isOnce?: boolean | undefined
  /** A 409 is the state of a record, which another try does not change. */
  readonly conflictStays: boolean
}

/** Whether a failure may be over at the next try. An error without a status is a lost connection. */
export function isPassing({ status }: Pick<ClientError, 'status'>, { method, conflictStays, isOnce }: RepetitionFacts): boolean {
  if (isOnce) return false
  if (status === undefined || always.has(status)) return true
  if (status === 409) return !conflictStays
  return status >= 500 && !never.has(status) && method !== 'POST'
}

const firstWaitMs = 500
const longestWaitMs = 8000

/**
 * Milliseconds until the next try: as long as the server says, else twice as long each time. Chance keeps many clients
 * from trying again at the same moment.
 * @param tries how many there were
 */
function waitBefore(headers: Headers, tries: number, timing: Timing): number {
  const wanted = retryAfterMs(headers, timing)
  const own = Math.min(firstWaitMs * 2 ** (tries - 1), longestWaitMs) * (0.5 + timing.random() / 2)
  return wanted === undefined ? own : wanted + timing.random() * 250
}

/** The wait of `Retry-After`, in seconds or as a date, else that of `RateLimit-Reset` if no request is left. */
function retryAfterMs(headers: Headers, timing: Timing): number | undefined {
  const text = headers.get('retry-after') ?? (headers.get('ratelimit-remaining') === '0' ? headers.get('ratelimit-reset') : null)
  if (text === null) return undefined
  if (/^\s*\d+(?:\.\d+)?\s*$/.test(text)) return Number(text) * 1000
  // A date of HTTP begins with the day of the week; `Date.parse` would also take a negative number for a year.
  const date = /^\s*[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - timing.now())
}

/**
 * Runs a try, again while that may help.
 * @param request the method and the path
 * @param oneTry throws a `ClientError` if it failed
 * @throws the error of the last try, or the reason of the signal
 */
export async function withRetries<T>(
  settings: Settings,
  request: string,
  repeated: RepetitionFacts,
  { signal, maxRetries = settings.maxRetries }: CallOptions,
  oneTry: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    signal?.throwIfAborted()
    try {
      return await oneTry()
    } catch (error) {
      if (tries > maxRetries || !isClientError(error) || !isPassing(error, repeated)) throw error
      const waitMs = waitBefore(error.headers, tries, settings.timing)
      if (waitMs > settings.maxRetryWait) throw error
      settings.onRetry({ request, tries, waitMs, error })
      await pause(settings.timing, waitMs, signal)
    }
  }
}
