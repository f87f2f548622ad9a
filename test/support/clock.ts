import type { Clock } from '../../lib/base/clock.ts'

/** A clock that a test moves. It begins at 2026-11-20T10:00:00.000Z. */
export function manualClock(start = Date.UTC(2026, 10, 20, 10)): Clock & { advance(milliseconds: number): void } {
  let now = start
  return {
    now: () => now,
    advance(milliseconds) {
      now += milliseconds
    },
  }
}
