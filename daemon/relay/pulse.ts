/** A step that is taken again and again: at once when there is more, soon after a hint, and after a pause in any case. */
import type { Clock } from './clock.ts'

export interface PulseParts {
  readonly clock: Clock
  /** Milliseconds of the pause. */
  readonly interval: number
  /** Says whether there is more to do at once. */
  readonly step: () => Promise<boolean>
  /** Told of the first failure in a row. */
  readonly failed: (error: unknown) => void
}

export interface Pulse {
  /** Whether the last step went well. */
  readonly healthy: boolean
  /** Ends the present pause. */
  hint(): void
  /** Waits for the present step, and takes no other one. */
  stop(): Promise<void>
}

/** After failures the pause grows to this, in milliseconds. */
const longestPause = 5000

export function createPulse({ clock, interval, step, failed }: PulseParts): Pulse {
  let healthy = true
  let stopped = false
  let hinted = false
  let ring: () => void = () => undefined

  async function pause(milliseconds: number): Promise<void> {
    if (hinted || stopped) return
    await new Promise<void>((resolve) => {
      const cancel = clock.timer(milliseconds, resolve)
      ring = () => {
        cancel()
        resolve()
      }
    })
    ring = () => undefined
  }

  async function run(): Promise<void> {
    for (let failures = 0; !stopped; ) {
      try {
        hinted = false
        const more = await step()
        healthy = true
        failures = 0
        // Others have their turn between two steps.
        if (more) await new Promise<void>((next) => void setImmediate(next))
        else await pause(interval)
      } catch (error) {
        if (healthy) failed(error)
        healthy = false
        hinted = false
        await pause(Math.min(longestPause, interval * 2 ** Math.min(++failures, 10)))
      }
    }
  }

  const running = run()
  return {
    get healthy() {
      return healthy
    },
    hint() {
      hinted = true
      ring()
    },
    async stop() {
      stopped = true
      ring()
      await running
    },
  }
}
