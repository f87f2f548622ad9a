/** The attempts of each endpoint by the hour, with their durations in buckets: counted as they are recorded, and kept for a day. */
import { durationBounds } from '../../../lib/relay/durations.ts'
import { type Plan, type RelayDatabase, rows } from './database.ts'
import { number } from './rows.ts'

const hourMs = 3_600_000
/** Hours that are kept: those of a day, and the present one. */
const kept = 25

/** The columns of the buckets. Each attempt is counted in one. */
export const buckets: readonly string[] = [...durationBounds.map((bound) => `up_to_${bound}`), 'slower']

const sums = ['delivered', 'failed', ...buckets]
const sum = (condition: string): string => `sum(CASE WHEN ${condition} THEN 1 ELSE 0 END)`
/** Whether the receiver took that time: a connection that is refused says nothing about it. */
const timed = `(a.status IS NOT NULL OR a.outcome = 'timeout')`
const within = (place: number): string =>
  [
    timed,
    ...[durationBounds[place - 1]].flatMap((from) => (from === undefined ? [] : `a.milliseconds > ${from}`)),
    ...[durationBounds[place]].flatMap((to) => (to === undefined ? [] : `a.milliseconds <= ${to}`)),
  ].join(' AND ')

/**
 * A statement that counts attempts.
 * @param attempts a query for their `endpoint`, `at`, `milliseconds`, `status` and `outcome`
 */
export const countingOf = (attempts: string): string => `
  INSERT INTO $schema.hours AS h (endpoint, hour, slowest, ${sums.join(', ')})
  SELECT a.endpoint, a.at / ${hourMs}, coalesce(max(CASE WHEN ${timed} THEN a.milliseconds END), 0),
    ${[sum(`a.outcome = 'delivered'`), sum(`a.outcome <> 'delivered'`), ...buckets.map((_, place) => sum(within(place)))].join(', ')}
  FROM (${attempts}) a GROUP BY a.endpoint, a.at / ${hourMs}
  ON CONFLICT (endpoint, hour) DO UPDATE SET
    slowest = CASE WHEN excluded.slowest > h.slowest THEN excluded.slowest ELSE h.slowest END,
    ${sums.map((name) => `${name} = h.${name} + excluded.${name}`).join(', ')}`

export interface StoredHour {
  readonly endpoint_id: string
  /** Its beginning: milliseconds since 1970. */
  readonly at: number
  readonly delivered: number
  readonly failed: number
  readonly durations: readonly number[]
  readonly slowest: number
}

/** The hours of the endpoints of a network since a time, the oldest first. */
export function* hoursOf(network: string, since: number): Plan<readonly StoredHour[]> {
  const found = yield* rows(
    `SELECT p.id, h.* FROM $schema.endpoints p JOIN $schema.hours h ON h.endpoint = p.ref AND h.hour >= ?2
     WHERE p.network_id = ?1 AND p.removed_at IS NULL ORDER BY h.hour`,
    [network, Math.floor(since / hourMs)],
  )
  return found.map((each) => ({
    ...{ endpoint_id: String(each['id']), at: number(each, 'hour') * hourMs, slowest: number(each, 'slowest') },
    ...{ delivered: number(each, 'delivered'), failed: number(each, 'failed') },
    durations: buckets.map((name) => number(each, name)),
  }))
}

/** Removes hours that are over for a day. */
export const forgetHours = (database: RelayDatabase, now: number): Promise<unknown> =>
  database.transaction(() => rows('DELETE FROM $schema.hours WHERE hour < ?1', [Math.floor(now / hourMs) - kept]))
