/** The only place in `lib` that reads the time. Everything else is given a clock, so that tests can hold it. */
export interface Clock {
  /** Milliseconds since 1970-01-01 UTC. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

let lastTime = Number.NaN
let lastText = ''

/** Milliseconds since 1970 as the timestamp of the wire: `2026-11-20T10:00:00.000Z`. */
export function isoTime(milliseconds: number): string {
  // A busy server reads the same millisecond dozens of times.
  if (milliseconds !== lastTime) {
    lastText = new Date(milliseconds).toISOString()
    lastTime = milliseconds
  }
  return lastText
}
