/** A clock that only a test moves. */
import type { Clock } from '../../../daemon/relay/clock.ts'

export interface VirtualClock extends Clock {
  /** Lets time pass: timers fire in order. */
  advance(milliseconds: number): void
  /** Sets the wall clock, and nothing else. */
  step(milliseconds: number): void
}

export function virtualClock(start = Date.UTC(2026, 10, 20, 10)): VirtualClock {
  let wall = start
  let monotonic = 0
  const timers = new Set<{ readonly at: number; readonly done: () => void }>()
  const first = () => [...timers].sort((a, b) => a.at - b.at)[0]

  return {
    now: () => wall,
    monotonic: () => monotonic,
    timer(milliseconds, done) {
      const timer = { at: monotonic + Math.max(0, milliseconds), done }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    advance(milliseconds) {
      const end = monotonic + milliseconds
      for (let next = first(); next && next.at <= end; next = first()) {
        timers.delete(next)
        wall += Math.max(0, next.at - monotonic)
        monotonic = Math.max(monotonic, next.at)
        next.done()
      }
      wall += end - monotonic
      monotonic = end
    },
    step(milliseconds) {
      wall += milliseconds
    },
  }
}
