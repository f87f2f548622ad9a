/** Runs ticks, one after the other: on request, and at the next time at which something may happen by itself. */
import type { Clock } from '../../clock.ts'

export interface TickLoopParts {
  readonly clock: Clock
  readonly tick: () => Promise<void>
  /** Milliseconds until a tick is due by itself; infinity: never. */
  readonly pause: () => number
  readonly failed: (error: unknown) => void
}

export interface TickLoop {
  /** Runs a tick soon; another one if one is running. */
  wake(): void
  /** Milliseconds that the present tick has taken; 0 between ticks. */
  readonly stuckFor: number
  /** From now on ticks run only on request. */
  stop(): void
}

export function createTickLoop({ clock, tick, pause, failed }: TickLoopParts): TickLoop {
  let running = false
  let again = false
  let stopped = false
  let began: number | undefined
  let cancelTimer: () => void = () => undefined

  function wake(): void {
    again = true
    if (running) return
    running = true
    setImmediate(() => void take())
  }

  async function take(): Promise<void> {
    again = false
    began = clock.monotonic()
    await tick().catch(failed)
    began = undefined
    plan()
    running = false
    if (again) wake()
  }

  function plan(): void {
    cancelTimer()
    const milliseconds = pause()
    if (!stopped && Number.isFinite(milliseconds)) cancelTimer = clock.timer(milliseconds, wake)
  }

  return {
    wake,
    get stuckFor() {
      return began === undefined ? 0 : clock.monotonic() - began
    },
    stop() {
      stopped = true
      cancelTimer()
    },
  }
}
