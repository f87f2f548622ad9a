/** The deliveries of an operator's selection: counted, for a person, or in parts to change. */

import type { DeliveryState } from '../../../../lib/relay/relay-view.ts'
import { type Plan, type RelayDatabase, type Rows, row, rows } from '../database.ts'
import { iso, number, numberOrNull, type SqlRow, text, textOrNull } from '../rows.ts'
import type { DeliveryStatus, Selection } from './operator-store.ts'

const joined = '$schema.deliveries d JOIN $schema.events e ON e.seq = d.event JOIN $schema.endpoints p ON p.ref = d.endpoint'

/** The conditions of a selection, for `joined`. */
function whereOf(selection: Selection, after: number) {
  const { state, endpoint, network, event, type, since, until, slower } = selection
  const conditions = [
    ['d.id >', after] as const,
    ...(state === undefined ? [] : [['d.state =', state] as const]),
    ...(endpoint === undefined ? [] : [['p.id =', endpoint] as const]),
    ...(network === undefined ? [] : [['p.network_id =', network] as const]),
    ...(event === undefined ? [] : [['e.event_id =', event] as const]),
    ...(type === undefined ? [] : [['e.event_type =', type] as const]),
    ...(since === undefined ? [] : [['e.received_at >=', since] as const]),
    ...(until === undefined ? [] : [['e.received_at <', until] as const]),
    ...(slower === undefined ? [] : [['d.milliseconds >=', slower] as const]),
  ]
  const written = conditions.map(([condition], place) => `${condition} ?${place + 1}`)
  return {
    sql: ['p.removed_at IS NULL', ...written].join(' AND '),
    values: conditions.map(([, value]) => value),
  }
}

function* select(selection: Selection, direction: 'ASC' | 'DESC', after = 0): Plan<Rows> {
  const { sql, values } = whereOf(selection, after)
  return yield* rows(
    `SELECT d.*, e.event_id, e.event_type, e.event_timestamp, p.id AS endpoint_id, p.network_id
     FROM ${joined} WHERE ${sql} ORDER BY d.id ${direction} LIMIT ?${values.length + 1}`,
    [...values, selection.limit],
  )
}

export function deliveryOf(found: SqlRow): DeliveryStatus {
  const state = text(found, 'state') as DeliveryState
  return {
    delivery: number(found, 'id'),
    state,
    network_id: text(found, 'network_id'),
    endpoint_id: text(found, 'endpoint_id'),
    event_id: text(found, 'event_id'),
    event_type: text(found, 'event_type'),
    event_timestamp: text(found, 'event_timestamp'),
    attempts: number(found, 'attempts'),
    last_attempt_at: iso(numberOrNull(found, 'at')),
    last_outcome: textOrNull(found, 'outcome'),
    last_status: numberOrNull(found, 'status'),
    milliseconds: numberOrNull(found, 'milliseconds'),
    next_attempt_at: state === 'pending' ? iso(number(found, 'due')) : null,
  }
}

/** How many deliveries a selection has, its limit aside. */
export function* countOf(selection: Selection): Plan<number> {
  const { sql, values } = whereOf(selection, 0)
  const found = yield* row(`SELECT count(*) AS n FROM ${joined} WHERE ${sql}`, values)
  return number(found ?? {}, 'n')
}

/** The JSON of the event of a delivery. */
export function* bodyOf(delivery: number): Plan<string | null> {
  const found = yield* row('SELECT e.body FROM $schema.deliveries d JOIN $schema.events e ON e.seq = d.event WHERE d.id = ?1', [
    delivery,
  ])
  const body = found?.['body']
  return body === undefined || body === null ? null : body instanceof Uint8Array ? new TextDecoder().decode(body) : String(body)
}

/** The deliveries of a selection for a person, the newest first. */
export function* deliveriesOf(selection: Selection): Plan<readonly DeliveryStatus[]> {
  return (yield* select(selection, 'DESC')).map(deliveryOf)
}

/** Deliveries that are made due, or skipped, in one transaction. */
const part = 1000

/** The deliveries of a selection in parts, the oldest first. */
export async function* partsOf(database: RelayDatabase, selection: Selection): AsyncGenerator<Rows> {
  let after = 0
  for (let left = selection.limit; left > 0; ) {
    const some = await database.read(() => select({ ...selection, limit: Math.min(part, left) }, 'ASC', after))
    if (some.length === 0) return
    yield some
    left -= some.length
    after = Math.max(...some.map((each) => number(each, 'id')))
  }
}
