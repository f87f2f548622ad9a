/** How events repeat: which rules make sense, and when the occurrences are. */

import { utcOf } from '../base/date-time.ts'
import type { Context } from '../context.ts'
import { fail, invalid } from '../errors.ts'
import type { Series } from '../ports.ts'
import type { EventRow } from '../storage/tables/events.ts'
import { port } from './ports.ts'

/** No series is looked into further than this many occurrences. */
const maxOccurrences = 10_000
/** No occurrence begins later than so many years after the first one: ports of any kind look no further. */
export const maxYears = 100

/** The columns of an event that say when it takes place. */
export type Schedule = Pick<
  EventRow,
  | 'starts_at'
  | 'ends_at'
  | 'time_zone'
  | 'frequency'
  | 'interval'
  | 'by_days'
  | 'by_month_days'
  | 'recurrence_count'
  | 'recur_until'
>

export interface Occurrence {
  readonly post_id: string
  readonly starts_at: string
  readonly ends_at: string
  /** Its position in the series, from 0. */
  readonly instance_index: number
}

/**
 * A time that a request gives, as a timestamp: without an offset it is one of a time zone.
 * @param field the request's field
 * @param zone the event's time zone; `undefined` where neither the request nor the event has one
 * @throws ApiError 422
 */
export function inZone<T extends string | null | undefined>(field: string, time: T, zone: string | undefined): T | string {
  if (!time || time.endsWith('Z')) return time
  if (zone === undefined) fail(invalid(field), `${field} must have an offset, such as ${time}Z, or the request a time_zone`)
  return utcOf(time, zone) ?? fail(invalid(field), `${field} must be a date and time that exists`)
}

const unmatched = `frequency, interval, by_days and by_month_days match no further date within ${maxYears} years: change one of them`

const dependent = ['interval', 'by_days', 'by_month_days', 'recurrence_count', 'recur_until'] as const

/** The recurrence fields of an event that takes place once. */
export const once = {
  frequency: null,
  interval: null,
  by_days: null,
  by_month_days: null,
  recurrence_count: null,
  recur_until: null,
  recurrence_rule: null,
} as const

/**
 * Checks when an event takes place.
 * @returns the columns that its rule comes to
 * @throws ApiError 422 when the times or the parts of the rule contradict each other, or the rule never comes round
 */
export function checkedRule(context: Pick<Context, 'ports'>, schedule: Schedule): Pick<EventRow, keyof typeof once> {
  if (schedule.starts_at >= schedule.ends_at) fail(invalid('ends_at'), 'ends_at must be after starts_at')
  if (schedule.frequency === null) {
    const unexpected = dependent.find((name) => schedule[name] !== null)
    return unexpected ? fail(invalid(unexpected), `${unexpected} needs a frequency`) : once
  }
  const rule = { ...schedule, frequency: schedule.frequency, interval: schedule.interval ?? 1 }
  if (rule.recurrence_count !== null && rule.recur_until !== null)
    fail(invalid('recur_until'), 'recurrence_count and recur_until both end the series: give one of them')
  if (rule.recur_until !== null && rule.recur_until < rule.starts_at)
    fail(invalid('recur_until'), 'recur_until must not be before starts_at')
  if (rule.by_month_days !== null && rule.frequency === 'weekly')
    fail(invalid('by_month_days'), 'by_month_days cannot be combined with a weekly frequency')
  const series = seriesOf(rule)
  if (series && !port(context, 'recurrence', 'frequency').expand(series, { limit: 2 })) fail(invalid('frequency'), unmatched)
  const { frequency, interval, by_days, by_month_days, recurrence_count, recur_until } = rule
  return {
    frequency,
    interval,
    by_days,
    by_month_days,
    recurrence_count,
    recur_until,
    recurrence_rule: ruleText(rule),
  }
}

const listOf = (text: string | null): string[] => (text ? text.split(',') : [])

/** An event as a series, unless it takes place once. */
export function seriesOf(schedule: Schedule): Series | undefined {
  const { frequency, interval, starts_at, time_zone } = schedule
  return frequency
    ? {
        frequency,
        interval: interval ?? 1,
        by_days: listOf(schedule.by_days),
        by_month_days: listOf(schedule.by_month_days).map(Number),
        count: schedule.recurrence_count,
        until: schedule.recur_until,
        starts_at,
        time_zone,
      }
    : undefined
}

/** The rule in the words of RFC 5545. */
function ruleText(schedule: Schedule): string {
  const { frequency, interval, by_days, by_month_days, recurrence_count, recur_until } = schedule
  const parts: readonly (readonly [string, string | number | null])[] = [
    ['FREQ', frequency?.toUpperCase() ?? null],
    ['INTERVAL', interval],
    ['BYDAY', by_days],
    ['BYMONTHDAY', by_month_days],
    ['COUNT', recurrence_count],
    ['UNTIL', recur_until?.replace(/\.\d+|[-:]/g, '') ?? null],
  ]
  return parts.flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`])).join(';')
}

/** Whether a timestamp is later than a series can have an occurrence. */
export function isBeyondSeries(event: EventRow, timestamp: string): boolean {
  const last = new Date(event.starts_at)
  last.setUTCFullYear(last.getUTCFullYear() + maxYears)
  return seriesOf(event) !== undefined && Date.parse(timestamp) > last.getTime()
}

/**
 * The occurrences of a recurring event that begin at these timestamps; other timestamps are omitted. All of them last as long
 * as the first one (RFC 5545, 3.8.5.3).
 */
export function occurrencesAt(
  { ports }: Pick<Context, 'ports'>,
  event: EventRow,
  timestamps: readonly string[],
): ReadonlyMap<string, Occurrence> {
  const series = seriesOf(event)
  const to = timestamps
    .filter((timestamp) => !isBeyondSeries(event, timestamp))
    .sort()
    .at(-1)
  if (!series || to === undefined) return new Map()
  const wanted = new Set(timestamps)
  const starts = ports.recurrence?.expand(series, { to, limit: maxOccurrences }) ?? []
  const length = Date.parse(event.ends_at) - Date.parse(event.starts_at)
  return new Map(
    starts.flatMap((starts_at, instance_index) => {
      if (!wanted.has(starts_at)) return []
      const ends_at = new Date(Date.parse(starts_at) + length).toISOString()
      return [[starts_at, { post_id: event.id, starts_at, ends_at, instance_index }] as const]
    }),
  )
}
