/** Recurring events by rrule-temporal: RFC 5545 on the clock of a time zone (docs/decisions/recurrence.md). */
import { RRuleTemporal } from 'rrule-temporal'
import { Temporal } from 'temporal-polyfill'
import type { Recurrence, Series } from '../../lib/ports.ts'

/** As many occurrences are worked out at once; a longer look takes the next size. Few requests look beyond the first. */
const sizes = [100, 1_000, 10_000]
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
 * @returns a port that works out at most 10,000 occurrences of a series
 */
export function recurrence(): Recurrence {
  const remembered = new Map<string, Beginning | undefined>()

  function beginningOf(series: Series, size: number): Beginning | undefined {
    const key = JSON.stringify([size, series])
    if (remembered.has(key)) return remembered.get(key)
    const beginning = workOut(series, size)
    if (remembered.size >= capacity) remembered.clear()
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
        const reaches = whole || size >= limit || (starts.at(-1) ?? 0) > end
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

const frequencies = { daily: 'DAILY', weekly: 'WEEKLY', monthly: 'MONTHLY', yearly: 'YEARLY' } as const

function workOut(series: Series, size: number): Beginning | undefined {
  const count = Math.min(series.count ?? size, size)
  const rule = new RRuleTemporal({
    freq: frequencies[series.frequency],
    interval: series.interval,
    ...(series.by_days.length > 0 ? { byDay: [...series.by_days] } : {}),
    ...(series.by_month_days.length > 0 ? { byMonthDay: [...series.by_month_days] } : {}),
    ...(series.until ? { until: Temporal.Instant.from(series.until).toZonedDateTimeISO('UTC') } : {}),
    count,
    dtstart: Temporal.Instant.from(series.starts_at).toZonedDateTimeISO(series.time_zone),
    tzid: series.time_zone,
    includeDtstart: true,
    cache: false,
    maxIterations: 20 * size + 2_000,
  })
  try {
    const starts = rule.all().map((start) => start.epochMilliseconds)
    return { starts, whole: starts.length < size }
  } catch {
    // It gives up when the rule falls on no date in that many periods: a 31st of every twelfth month from February on.
    return undefined
  }
}
