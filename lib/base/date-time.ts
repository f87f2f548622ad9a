/** Dates with times as requests write them: with an offset, or as the clocks of a time zone show them. */

/** A date and time of ISO 8601, taken apart. */
export interface Moment {
  /** The reading of a clock: `2026-11-20T10:00:00.000`. */
  readonly local: string
  /** `Z`, or an offset such as `+01:00`; `undefined` when the text has none. */
  readonly offset: string | undefined
}

const date = '(\\d{4}-\\d\\d-\\d\\d)'
const time = '((?:[01]\\d|2[0-3]):[0-5]\\d)(?::([0-5]\\d)(?:\\.(\\d{1,9}))?)?'
// A `+` that was not percent-encoded in a query arrives as a blank.
const offset = '(?: ?([Zz])|([ +-]|\\s[+-])([01]\\d|2[0-3])(?::?([0-5]\\d))?)?'
const pattern = new RegExp(`^${date}[Tt ]${time}${offset}$`)

/** Takes a text apart; `undefined` when it is no date and time of ISO 8601. Whether the day exists is not checked here. */
export function readMoment(text: string): Moment | undefined {
  const [, day, minutes, seconds = '00', fraction = '', zulu, sign, hours, rest = '00'] = pattern.exec(text) ?? []
  if (!day || !minutes) return undefined
  const local = `${day}T${minutes}:${seconds}.${fraction.padEnd(3, '0').slice(0, 3)}`
  return { local, offset: zulu ? 'Z' : hours && `${sign?.trim() || '+'}${hours}:${rest}` }
}

/** Whether a text is a day like `2026-11-20` that exists: `Date` takes the 30th of February for the 2nd of March. */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) === true

/** A moment as a timestamp in UTC; `undefined` if its year does not have four digits. */
export function utcText(milliseconds: number): string | undefined {
  const text = Number.isNaN(milliseconds) ? '' : new Date(milliseconds).toJSON()
  return text && /^\d{4}-/.test(text) ? text : undefined
}

export const dayMilliseconds = 24 * 60 * 60 * 1000

/** The clocks of a time zone. What they show is in milliseconds since 1970, as if they were on UTC. */
export interface ZoneClocks {
  /** What they show at a moment. */
  shown(milliseconds: number): number
  /**
   * The moment at which they show this, by the rules of RFC 5545, 3.3.5. A time that occurs twice, when clocks go back, is the
   * first one. A time that clocks skip, when they go forward, moves forward.
   * @returns a timestamp in UTC; `undefined` if its year does not have four digits
   */
  momentOf(shown: number): string | undefined
}

/** @param timeZone a name of the IANA database */
export function clocksOf(timeZone: string): ZoneClocks {
  const clock = clockOf(timeZone)
  const offsetAt = (milliseconds: number) => clock(milliseconds) - milliseconds
  return {
    shown: clock,
    momentOf(shown) {
      const [before, after] = [offsetAt(shown - dayMilliseconds), offsetAt(shown + dayMilliseconds)]
      const candidates = [shown - before, shown - after]
      return utcText(candidates.find((moment) => clock(moment) === shown) ?? shown - before)
    },
  }
}

/** The moment at which the clocks of a time zone show a date and time such as `2026-11-20T10:00:00.000`, as `momentOf` has it. */
export const utcOf = (local: string, timeZone: string): string | undefined => clocksOf(timeZone).momentOf(Date.parse(`${local}Z`))

/** The reading of a time zone's clocks at a moment, in milliseconds since 1970 as if they were on UTC. */
function clockOf(timeZone: string): (milliseconds: number) => number {
  const numeric = {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  } as const
  const format = new Intl.DateTimeFormat('en-US', { ...numeric, timeZone, hourCycle: 'h23' })
  return (milliseconds) => {
    if (Number.isNaN(milliseconds)) return Number.NaN
    const parts = new Map(format.formatToParts(milliseconds).map(({ type, value }) => [type, value]))
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? ''
    const day = `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`
    const wholeSeconds = Date.parse(`${day}T${part('hour')}:${part('minute')}:${part('second')}Z`)
    return wholeSeconds + (((milliseconds % 1000) + 1000) % 1000)
  }
}
