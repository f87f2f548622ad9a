/** Reads what waits for an endpoint, and what is to be sent of it. */
import { among, type Plan, type RelayDatabase, row, rows } from '../database.ts'
import { endpointColumns } from '../endpoint/endpoint-row.ts'
import type { StoredEndpoint } from '../endpoint/relay-endpoint.ts'
import { number, outgoingOf, storedEndpointOf, waitingOf } from '../rows.ts'
import type { Outgoing, RelayStore, Waiting } from '../store.ts'

export const waitingColumns = 'id, event, lane, due, attempts, interruptions'
/** The needed parts of an event to send it. */
export const eventColumns = 'event_id, event_type, network_id, received_at, trace, changed, body, crc'
/** Another relay may have ingested that it is disabled or set aside, and events after that, before this one reads that. */
export const isEnabled = (ref: string) =>
  `(SELECT p.enabled AND p.set_aside IS NULL FROM $schema.endpoints p WHERE p.ref = ${ref})`

/** Looked for among the next thousand of each lane: the first lane is in order anyway. */
const lane = (number: number, order: string) => `SELECT * FROM (SELECT ${waitingColumns} FROM $schema.deliveries
  WHERE endpoint = ?1 AND lane = ${number} AND state = 'pending' AND due <= ?2 AND ${isEnabled('?1')} ORDER BY ${order} LIMIT 1000) AS l`
const lanes = (order: string) => `${lane(0, order)} UNION ALL ${lane(1, order)}`
const oldest = `SELECT ${waitingColumns} FROM (${lanes('due, id')}) AS d WHERE event <> ?3 ORDER BY event LIMIT 1`
const newest = `SELECT ${waitingColumns} FROM (${lanes('due DESC, id DESC')}) AS d WHERE event <> ?3 ORDER BY event DESC LIMIT 1`

function* first(sql: string, endpoint: number, now: number, except: number | null): Plan<Waiting | undefined> {
  const found = yield* row(sql, [endpoint, now, except ?? -1])
  return found && waitingOf(found)
}

export function readingOf({ read }: RelayDatabase): Pick<RelayStore, 'endpoints' | 'oldestDue' | 'newestDue' | 'head'> {
  return {
    endpoints: () => read(storedEndpoints),
    oldestDue: (endpoint, now, except) => read(() => first(oldest, endpoint, now, except)),
    newestDue: (endpoint, now, except) => read(() => first(newest, endpoint, now, except)),
    head: (endpoint) => read(() => first(oldest, endpoint, Number.MAX_SAFE_INTEGER, null)),
  }
}

export function* storedEndpoints(): Plan<StoredEndpoint[]> {
  return (yield* rows(`SELECT ${endpointColumns} FROM $schema.endpoints WHERE removed_at IS NULL`)).map(storedEndpointOf)
}

/** The contents to send, by delivery; unknown ones are omitted. */
export function* outgoing(database: RelayDatabase, deliveries: readonly Waiting[]): Plan<Map<number, Outgoing>> {
  if (deliveries.length === 0) return new Map()
  const events = yield* rows(`SELECT seq, ${eventColumns} FROM $schema.events WHERE ${among(database, 'seq', '?1')}`, [
    database.dialect.list(deliveries.map(({ event }) => event)),
  ])
  const bySeq = new Map(events.map((each) => [number(each, 'seq'), each]))
  return new Map(
    deliveries.flatMap(({ delivery, event }) => {
      const found = bySeq.get(event)
      return found ? [[delivery, outgoingOf(found, delivery)]] : []
    }),
  )
}
