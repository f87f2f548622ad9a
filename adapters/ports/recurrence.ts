/** Recurring events by rrule-temporal: RFC 5545 on the clock of a time zone (docs/decisions/dependencies.md). */
import { RRuleTemporal } from 'rrule-temporal'
import { Temporal } from 'temporal-polyfill'
import { BoundedMap } from '../../lib/base/bounded.ts'
import type { Recurrence, Series } from '../../lib/ports.ts'

/**
 * As many occurrences are computed in one go; a longer look takes the next size. Few requests look beyond the first. The last
 * one makes up for times that the clocks leave out.
 */
const sizes = [100, 1_000, 10_300]
/** No occurrence begins later than so many years after the first one. */
const maxYears = 100
/** More than the weeks in these years: the library gets no rule with more periods. */
const maxPeriods = 10_000
const dayMilliseconds = 24 * 60 * 60 * 1000
/** The last millisecond that a timestamp with a year of four digits can name. */
const endOfTime = Date.parse('9999-12-31T23:59:59.999Z')
/** How many series are remembered, so that the second look into a series costs nothing. */
const capacity = 64

/** The beginning of a series, as far as it has been worked out. */
interface Beginning {
  /** Milliseconds since 1970. */
  readonly starts: readonly number[]
  /** Whether the series has no further occurrence. */
  readonly whole: boolean
}

/**
 * The port `recurrence`.
 * @returns a port that works out the occurrences of 100 years, the first 10,000 of them
 */
export function recurrence(): Recurrence {
  const remembered = new BoundedMap<string, Beginning | undefined>(capacity)

  function beginningOf(series: Series, size: number): Beginning | undefined {
    const key = JSON.stringify([size, series])
    if (remembered.has(key)) return remembered.get(key)
    const beginning = workOut(series, size)
    remembered.set(key, beginning)
    return beginning
  }

  return {
    expand(series, { to, limit }) {
      const end = to === undefined ? Number.POSITIVE_INFINITY : Date.parse(to)
      for (const size of sizes) {
        const beginning = beginningOf(series, size)
        if (!beginning) return undefined
        const { starts, whole } = beginning
        const reaches = whole || starts.length >= limit || (starts.at(-1) ?? 0) > end
        if (reaches || size === sizes.at(-1))
          return starts
            .filter((start) => start <= end)
            .slice(0, limit)
            .map(isoText)
      }
      return undefined
    },
  }
}

const isoText = (milliseconds: number): string => new Date(milliseconds).toISOString()

const frequencies = { weekly: 'WEEKLY', monthly: 'MONTHLY', yearly: 'YEARLY' } as const
const weekdays = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']

/** `undefined` where the years have no second occurrence, although the series does not end before them. */
function workOut(series: Series, size: number): Beginning | undefined {
  const start = Date.parse(series.starts_at)
  const horizon = Math.min(new Date(start).setUTCFullYear(new Date(start).getUTCFullYear() + maxYears), endOfTime)
  const until = series.until ? Math.min(Date.parse(series.until), horizon) : horizon
  const count = series.count ?? Number.POSITIVE_INFINITY
  const offsetAt = offsetsOf(series.time_zone)
  // Clocks are less than a day apart from UTC.
  const readings = readingsOf(series, start + offsetAt(start), until + dayMilliseconds, size)
  // The start is a known moment, even if the clocks show its time twice.
  const moments = [start, ...momentsOf(readings.slice(1), offsetAt)]
  const starts = moments.filter((moment) => moment <= until).slice(0, count)
  const whole = readings.length < size || starts.length < moments.length || starts.length === count
  return starts.length < 2 && whole && count > 1 && until === horizon ? undefined : { starts, whole }
}

/**
 * The readings of the zone's clocks at the first occurrences, in milliseconds since 1970 as if they were on UTC. On UTC the
 * library is fast. In another zone it looks up each change of the clocks, and keeps them all.
 * @param first the reading at the start
 * @param last the highest reading
 */
function readingsOf(series: Series, first: number, last: number, size: number): readonly number[] {
  const { frequency, interval, by_days, by_month_days } = series
  if (frequency === 'daily') return dailyReadings(series, first, last, size)
  // The day of the start, given by its number, is the same rule and ten times as fast.
  const ofStart = frequency === 'monthly' && by_days.length === 0 ? [new Date(first).getUTCDate()] : []
  const monthDays = by_month_days.length > 0 ? [...by_month_days] : ofStart
  const rule = new RRuleTemporal({
    freq: frequencies[frequency],
    interval,
    ...(by_days.length > 0 ? { byDay: [...by_days] } : {}),
    ...(monthDays.length > 0 ? { byMonthDay: monthDays } : {}),
    until: onUtc(last),
    count: size,
    dtstart: onUtc(first),
    tzid: 'UTC',
    includeDtstart: true,
    cache: false,
    maxIterations: maxPeriods,
  })
  return rule.all().map((reading) => reading.epochMilliseconds)
}

/** Every so many days. The library takes long for the days of a hundred years, and makes an object for each. */
function dailyReadings({ interval, by_days, by_month_days }: Series, first: number, last: number, size: number): number[] {
  const readings = [first]
  const step = interval * dayMilliseconds
  for (let reading = first + step; reading <= last && readings.length < size; reading += step) {
    const isWanted = by_days.length === 0 || by_days.includes(weekdays[new Date(reading).getUTCDay()] ?? '')
    if (isWanted && (by_month_days.length === 0 || isDayOfMonth(reading, by_month_days))) readings.push(reading)
  }
  return readings
}

const onUtc = (milliseconds: number) => Temporal.Instant.fromEpochMilliseconds(milliseconds).toZonedDateTimeISO('UTC')

/** Whether a date is one of these days of its month: 1 to 31, or −31 to −1 from its end. */
function isDayOfMonth(milliseconds: number, days: readonly number[]): boolean {
  const date = new Date(milliseconds)
  const day = date.getUTCDate()
  const length = new Date(date.setUTCMonth(date.getUTCMonth() + 1, 0)).getUTCDate()
  return days.includes(day) || days.includes(day - length - 1)
}

/** The moments at which clocks show these readings. One that they leave out is left out; of one that comes twice, the first. */
function momentsOf(readings: readonly number[], offsetAt: (moment: number) => number): number[] {
  const known = new Map<number, number>()
  const offsetOnDay = (day: number): number => {
    const offset = known.get(day) ?? offsetAt(day * dayMilliseconds)
    known.set(day, offset)
    return offset
  }
  return readings.flatMap((reading) => {
    const day = Math.floor(reading / dayMilliseconds)
    const [before, after] = [offsetOnDay(day - 1), offsetOnDay(day + 2)]
    if (before === after) return [reading - before]
    const offset = [before, after].find((offset) => offsetAt(reading - offset) === offset)
    return offset === undefined ? [] : [reading - offset]
  })
}

/** How far the clocks of a time zone are ahead of UTC at a moment, in milliseconds. */
function offsetsOf(timeZone: string): (moment: number) => number {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  return (moment) => {
    const [, sign, hours = 0, minutes = 0, seconds = 0] = /([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(format.format(moment)) ?? []
    const offset = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
    return sign === '-' ? -offset : offset
  }
}
