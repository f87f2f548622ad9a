/** A step that is taken again and again: immediately when there is more, soon after a hint, and after a pause in any case. */
import type { Clock } from './clock.ts'

export interface PollLoopParts {
  readonly clock: Clock
  /** Milliseconds of the pause, 200 by default. */
  readonly interval?: number
  /** Returns whether there is more to do immediately. */
  readonly step: () => Promise<boolean>
  readonly failed: (error: unknown) => void
  /** Calls `hint` soon after something may have changed; never a promise. The result ends it. */
  readonly watch?: (hint: () => void) => () => void
}

export interface PollLoop {
  /** Whether the last step went well, and the present one has not taken for ever. */
  readonly healthy: boolean
  /** Ends the present pause, except one after a failure: a busy outbox would make it try, and report, without an end. */
  hint(): void
  /** Waits for the present step, and takes no other one. */
  stop(): Promise<void>
}

/** After failures the pause grows to this, in milliseconds. */
const longestPause = 5000
/** A step that takes longer than this, in milliseconds, hangs. */
const longestStep = 30_000

export function createPollLoop({ clock, interval = 200, step, failed, watch }: PollLoopParts): PollLoop {
  let healthy = true
  let begun: number | undefined
  let stopped = false
  let hinted = false
  let failing = false
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
        begun = clock.monotonic()
        const more = await step()
        begun = undefined
        healthy = true
        failures = 0
        // Others have their turn between two steps.
        if (more) await new Promise<void>((next) => void setImmediate(next))
        else await pause(interval)
      } catch (error) {
        begun = undefined
        failed(error)
        healthy = false
        hinted = false
        failing = true
        await pause(Math.min(longestPause, interval * 2 ** Math.min(++failures, 10)))
        failing = false
      }
    }
  }

  function hint(): void {
    hinted = true
    if (!failing) ring()
  }

  const running = run()
  const stopWatching = watch?.(hint)
  return {
    get healthy() {
      return healthy && (begun === undefined || clock.monotonic() - begun < longestStep)
    },
    hint,
    async stop() {
      stopWatching?.()
      stopped = true
      ring()
      await running
    },
  }
}
