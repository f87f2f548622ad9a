/** Counts of waiting and dead deliveries. */
import { mostOfEndpoint } from '../../../../lib/relay/relay-admin.ts'
import { among, type Plan, type RelayDatabase, type Rows, rows } from '../database.ts'
import { number, numberOrNull, type SqlRow } from '../rows.ts'
import { newestOf } from './searches.ts'

/** The deliveries of an endpoint. Times are milliseconds of the relay's timeline. */
export interface Tally {
  readonly pending: number
  readonly dead: number
  /** When the first one is due. */
  readonly due: number | null
  /** When the event of the oldest one that waits was ingested. */
  readonly oldest: number | null
  /** When the latest one was delivered, if that is among the newest. */
  readonly delivered: number | null
}

/** By the refs of endpoints; one of which nothing is known may be missing. */
export type Tallies = ReadonlyMap<number, Tally>

const byEndpoint = (found: Rows): ReadonlyMap<number, SqlRow> => new Map(found.map((each) => [number(each, 'endpoint'), each]))
const from = (row: SqlRow | undefined, column: string): number | null => (row ? numberOrNull(row, column) : null)

/** Lanes in the order of their due times. A blocked delivery is not due before the one that blocks it. */
const firstDue = [0, 1, 3]
  .map(
    (lane) =>
      `SELECT due FROM (SELECT d.due FROM $schema.deliveries d WHERE d.endpoint = p.ref AND d.lane = ${lane} AND d.state = 'pending'
         ORDER BY d.due LIMIT 1) l${lane}`,
  )
  .join(' UNION ALL ')

/**
 * Deliveries are numbered in the order in which their events were ingested, so the smallest number is the oldest.
 * @param network whose deliveries are counted up to `mostOfEndpoint`; all of every network without it
 */
export function* talliesOf(database: RelayDatabase, network?: string): Plan<Tallies> {
  const most = network === undefined ? Number.MAX_SAFE_INTEGER : mostOfEndpoint
  const by = (index: string) => (database.dialect.engine === 'sqlite' ? ` INDEXED BY ${index}` : '')
  const waiting = `SELECT d.id FROM $schema.deliveries d${by('deliveries_waiting')} WHERE d.endpoint = p.ref AND d.state = 'pending'
    LIMIT ${most}`
  const found = yield* rows(
    `SELECT p.ref AS endpoint,
       (SELECT count(*) FROM (${waiting}) w) AS pending,
       (SELECT min(w.id) FROM (${waiting}) w) AS oldest,
       (SELECT min(f.due) FROM (${firstDue}) f) AS due,
       (SELECT count(*) FROM (
          SELECT d.state FROM $schema.deliveries d${by('deliveries_failed')} WHERE d.endpoint = p.ref AND d.outcome <> 'delivered'
          LIMIT ${most}) x WHERE x.state = 'dead') AS dead,
       (SELECT max(r.at) FROM (${newestOf(database, 'i.at, i.state', 'LIMIT 100')}) r WHERE r.state = 'delivered') AS delivered
     FROM $schema.endpoints p WHERE p.removed_at IS NULL${network === undefined ? '' : ' AND p.network_id = ?1'}`,
    network === undefined ? [] : [network],
  )
  const oldest = found.flatMap((each) => numberOrNull(each, 'oldest') ?? [])
  const received = byEndpoint(
    yield* rows(
      `SELECT d.endpoint, e.received_at FROM $schema.deliveries d JOIN $schema.events e ON e.seq = d.event
       WHERE ${among(database, 'd.id', '?1')}`,
      [database.dialect.list(oldest)],
    ),
  )
  return new Map(
    found.map((each) => {
      const ref = number(each, 'endpoint')
      const [pending, dead] = [number(each, 'pending'), number(each, 'dead')]
      const [due, delivered] = [numberOrNull(each, 'due'), numberOrNull(each, 'delivered')]
      return [ref, { pending, dead, due, delivered, oldest: from(received.get(ref), 'received_at') }]
    }),
  )
}
