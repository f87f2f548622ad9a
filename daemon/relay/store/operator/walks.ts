/** Deliveries of one network in windows of ids: each statement reads a bounded number of rows, however many there are. */
import { type Plan, type RelayDatabase, type Rows, row, rows } from '../database.ts'
import { number } from '../rows.ts'
import type { DeliverySearch, Slot } from './operator-store.ts'

/** Ids that one statement reads through. */
const window = 5000

const joined = '$schema.deliveries d JOIN $schema.events e ON e.seq = d.event JOIN $schema.endpoints p ON p.ref = d.endpoint'

/** The conditions of a search within ids from one bound to the other, the upper one excluded. */
function whereOf({ network, endpoint, event, type, state, outcome, status, id }: DeliverySearch, from: number, to: number) {
  const conditions = [
    ['d.id >=', from] as const,
    ['d.id <', to] as const,
    ['p.network_id =', network] as const,
    ...(endpoint === undefined ? [] : [['p.id =', endpoint] as const]),
    ...(event === undefined ? [] : [['e.event_id =', event] as const]),
    ...(type === undefined ? [] : [['e.event_type =', type] as const]),
    ...(state === undefined ? [] : [['d.state =', state] as const]),
    ...(outcome === undefined ? [] : [['d.outcome =', outcome] as const]),
    ...(status === undefined ? [] : [['d.status =', status] as const]),
    ...(id === undefined ? [] : [['d.id =', id] as const]),
  ]
  const written = conditions.map(([condition], place) => `${condition} ?${place + 1}`)
  return { sql: ['p.removed_at IS NULL', ...written].join(' AND '), values: conditions.map(([, value]) => value) }
}

function* select(search: DeliverySearch, from: number, to: number, order: 'ASC' | 'DESC', limit: number): Plan<Rows> {
  const { sql, values } = whereOf(search, from, to)
  return yield* rows(
    `SELECT d.*, e.event_id, e.event_type, e.event_timestamp, p.id AS endpoint_id, p.network_id
     FROM ${joined} WHERE ${sql} ORDER BY d.id ${order} LIMIT ?${values.length + 1}`,
    [...values, limit],
  )
}

/** The first id of an event that was ingested at or after a time. Ids follow the order in which events are ingested. */
function* idAt(time: number, low: number, high: number): Plan<number> {
  let [from, to] = [low, high]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    const found = yield* row(
      `SELECT d.id, e.received_at FROM $schema.deliveries d JOIN $schema.events e ON e.seq = d.event
       WHERE d.id >= ?1 AND d.id < ?2 ORDER BY d.id LIMIT 1`,
      [middle, to],
    )
    if (found && number(found, 'received_at') < time) from = number(found, 'id') + 1
    else to = middle
  }
  return from
}

/** The ids that a search may have, from the first to before the last. */
function* boundsOf({ since, until, before }: DeliverySearch): Plan<{ readonly from: number; readonly to: number }> {
  // Two queries: asked for both at once, SQLite reads the whole table.
  const found = yield* row(
    `SELECT coalesce((SELECT min(id) FROM $schema.deliveries), 0) AS low,
       coalesce((SELECT max(id) FROM $schema.deliveries), -1) + 1 AS high`,
  )
  const low = number(found ?? {}, 'low')
  const high = number(found ?? {}, 'high')
  const from = since === undefined ? low : yield* idAt(since, low, high)
  const to = until === undefined ? high : yield* idAt(until, from, high)
  return { from, to: Math.min(to, before ?? to) }
}

/**
 * Rows of a search, a window at a time; empty windows are yielded, too, with the id that they reached.
 * @param order `ASC`: the oldest first
 */
export async function* walk(
  database: RelayDatabase,
  search: DeliverySearch,
  order: 'ASC' | 'DESC',
  limit = window,
): AsyncGenerator<{ readonly found: Rows; readonly reached: number }> {
  const { from, to } = await database.read(() => boundsOf(search))
  // Few rows have one event or one id: an index finds them, wherever they are.
  const step = search.event === undefined && search.id === undefined ? window : Math.max(to - from, 1)
  for (let done = 0; done < to - from; done += step) {
    const low = order === 'ASC' ? from + done : Math.max(to - done - step, from)
    const high = order === 'ASC' ? Math.min(low + step, to) : to - done
    yield { found: await database.read(() => select(search, low, high, order, limit)), reached: order === 'ASC' ? high : low }
  }
}

/** How many of a search are within each slot of time, by the latest attempt, among the newest deliveries of all networks. */
export function* slotsOf(network: string, since: number, length: number, newest: number): Plan<readonly Slot[]> {
  const found = yield* rows(
    `SELECT p.id AS endpoint, d.at / CAST(?3 AS bigint) AS slot, count(*) AS attempts,
       sum(CASE WHEN d.state = 'delivered' THEN 1 ELSE 0 END) AS delivered
     FROM $schema.deliveries d JOIN $schema.endpoints p ON p.ref = d.endpoint
     WHERE d.id > (SELECT coalesce(max(id), 0) FROM $schema.deliveries) - ?4 AND p.network_id = ?1 AND p.removed_at IS NULL AND d.at >= ?2
     GROUP BY p.id, d.at / CAST(?3 AS bigint) ORDER BY 2`,
    [network, since, length, newest],
  )
  return found.map((each) => ({
    endpoint_id: String(each['endpoint']),
    at: number(each, 'slot') * length,
    delivered: number(each, 'delivered'),
    failed: number(each, 'attempts') - number(each, 'delivered'),
  }))
}

/** The JSON of the event of a delivery. */
export function* bodyOf(delivery: number): Plan<string | null> {
  const found = yield* row('SELECT e.body FROM $schema.deliveries d JOIN $schema.events e ON e.seq = d.event WHERE d.id = ?1', [
    delivery,
  ])
  const body = found?.['body']
  return body === undefined || body === null ? null : body instanceof Uint8Array ? new TextDecoder().decode(body) : String(body)
}
