/** Takes turns, one after the other: as soon as something asks for one, and at the next time at which something may happen by itself. */
import type { Clock } from '../../clock.ts'

export interface TurnLoopParts {
  readonly clock: Clock
  readonly turn: () => Promise<void>
  /** Milliseconds until a turn is due by itself; infinity: never. */
  readonly pause: () => number
  /** Told of each turn that fails. */
  readonly failed: (error: unknown) => void
}

export interface TurnLoop {
  /** Takes a turn soon; another one if one is being taken. */
  wake(): void
  /** Milliseconds that the present turn has taken; 0 between turns. */
  readonly stuckFor: number
  /** Takes no turn any more that nobody asks for. */
  stop(): void
}

export function createTurnLoop({ clock, turn, pause, failed }: TurnLoopParts): TurnLoop {
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
    await turn().catch(failed)
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
