/** Renews a lease again and again, whatever else waits for the database. */
import type { Clock } from '../../clock.ts'

export interface Renewals {
  stop(): Promise<void>
}

export interface RenewalParts {
  readonly clock: Clock
  /** Milliseconds from one renewal to the next. */
  readonly interval: () => number
  /** Renews it, if there is one. It never rejects. */
  readonly renew: () => Promise<void>
}

/** The interval is looked at this often, in milliseconds: it may be shorter by then. */
const longestPause = 200

export function startRenewals({ clock, interval, renew }: RenewalParts): Renewals {
  let stopped = false
  let ring: () => void = () => undefined

  const pause = (milliseconds: number) =>
    new Promise<void>((resolve) => {
      const cancel = clock.timer(milliseconds, resolve)
      ring = () => {
        cancel()
        resolve()
      }
    })

  async function run(): Promise<void> {
    for (let begun = clock.monotonic(); !stopped; ) {
      // Where a response takes longer than the interval, the next one is due.
      const left = begun + interval() - clock.monotonic()
      if (left > 0) await pause(Math.min(left, longestPause))
      else {
        begun = clock.monotonic()
        await renew()
      }
    }
  }

  const running = run()
  return {
    async stop() {
      stopped = true
      ring()
      await running
    },
  }
}
