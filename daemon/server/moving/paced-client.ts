/** A client that sends requests no faster than its server allows, by the headers of its responses. */
import { type Client, type ClientOptions, createClient, RateLimited } from '../../../lib/client/index.ts'
import { pause, systemTiming } from '../../../lib/client/timing.ts'

export interface Pace {
  /** How many requests were sent, with repeats. */
  requests: number
  /** Milliseconds that were waited because the limit was reached. */
  waitedMs: number
}

export interface Paced {
  readonly client: Client
  readonly pace: Readonly<Pace>
  /** Runs a request, as soon as the server takes requests again: so no wait counts as its time. */
  run<T>(work: () => Promise<T>): Promise<T>
}

/** The number in one of these headers. */
function numberIn(headers: Headers, ...names: readonly string[]): number | undefined {
  for (const name of names) {
    const text = headers.get(name)
    if (text !== null && /^\s*\d+(?:\.\d+)?\s*$/.test(text)) return Number(text)
  }
  return undefined
}

/** Some servers give the moment instead of the seconds, in seconds or milliseconds since 1970. */
function secondsUntil(reset: number, now: number): number {
  if (reset <= 1e9) return reset
  return Math.max(0, (reset < 1e11 ? reset : reset / 1000) - now / 1000)
}

const longestRetryMs = 15 * 60_000
/** A limit that seems to be renewed later is tried after this time: a response is more certain than the header. */
const longestWaitMs = 60 * 60_000

/**
 * Makes the client.
 * @param onWait called before each wait, with its milliseconds
 */
export function pacedClient(options: ClientOptions, onWait: (ms: number) => void = () => {}): Paced {
  const pace: Pace = { requests: 0, waitedMs: 0 }
  const send = options.fetch ?? ((request: Request) => fetch(request))
  const timing = options.timing ?? systemTiming
  let running = 0
  /** Requests that the server still takes before the limit is renewed. */
  let left = Number.POSITIVE_INFINITY
  let renewsAt = 0

  async function turn(): Promise<void> {
    for (;;) {
      const ms = renewsAt - timing.now()
      if (left > 0 || ms <= 0) {
        // At once, so that no two requests take the same place.
        left = ms <= 0 ? Number.POSITIVE_INFINITY : left - 1
        running++
        return
      }
      onWait(ms)
      pace.waitedMs += ms
      await pause(timing, ms, undefined)
    }
  }

  function look({ status, headers }: Response): void {
    const remaining = status === 429 ? 0 : numberIn(headers, 'ratelimit-remaining', 'x-ratelimit-remaining')
    const reset = numberIn(headers, ...(status === 429 ? ['retry-after'] : []), 'ratelimit-reset', 'x-ratelimit-reset')
    if (remaining === undefined || reset === undefined) return
    const now = timing.now()
    renewsAt = now + Math.min(secondsUntil(reset, now) * 1000, longestWaitMs)
    // The server may not have counted those that are under way.
    left = remaining - (running - 1)
  }

  const client = createClient({
    maxRetries: 8,
    maxRetryWait: longestRetryMs,
    onRetry: ({ waitMs, error }) => {
      if (error instanceof RateLimited) onWait(waitMs)
    },
    ...options,
    async fetch(request) {
      pace.requests++
      const response = await send(request)
      look(response)
      return response
    },
  })
  return {
    client,
    pace,
    async run(work) {
      await turn()
      try {
        return await work()
      } finally {
        running--
      }
    },
  }
}
