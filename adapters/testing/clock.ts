import { shown } from '../../lib/base/describe-value.ts'
import type { Clock } from '../../lib/index.ts'

/** A clock that stands still until a test moves it. */
export interface TestClock extends Clock {
  /**
   * Moves the clock.
   * @param milliseconds how far, backwards if it is negative
   * @throws TypeError when that is no whole number, or leads out of the years that a timestamp has
   */
  advance(milliseconds: number): void
  /**
   * Sets the clock.
   * @param moment milliseconds since 1970, an ISO 8601 text, or a `Date`
   * @throws TypeError when that is no moment of the years 1970 to 9999
   */
  set(moment: number | string | Date): void
}

const last = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** A moment in milliseconds since 1970; `undefined` for any other value. */
export function momentOf(moment: unknown): number | undefined {
  const milliseconds =
    typeof moment === 'number' ? moment : moment instanceof Date ? moment.getTime() : Date.parse(String(moment))
  return Number.isSafeInteger(milliseconds) && milliseconds >= 0 && milliseconds <= last ? milliseconds : undefined
}

/** The rule of a moment, as the end of a sentence. */
export const momentRule = 'be milliseconds since 1970, an ISO 8601 text or a Date, of the years 1970 to 9999'

export function testClock(start: number): TestClock {
  let now = start
  const moveTo = (call: string, given: unknown, moment: unknown): void => {
    const next = momentOf(moment)
    if (next === undefined) throw new TypeError(`clock.${call}: the moment must ${momentRule}, got ${shown(given)}`)
    now = next
  }
  return {
    now: () => now,
    advance: (milliseconds) => moveTo('advance', milliseconds, now + milliseconds),
    set: (moment) => moveTo('set', moment, moment),
  }
}
