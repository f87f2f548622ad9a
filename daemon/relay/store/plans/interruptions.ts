/** Deliveries that were in flight when a relay died. One that is among them again and again is suspected of the crash. */
import { among, type Plan, type RelayDatabase, rows } from '../database.ts'
import type { Notice } from '../notice.ts'
import { number, text } from '../rows.ts'

/** A delivery that was interrupted this often is set aside. */
const maxInterruptions = 3

export interface Interrupted {
  /** How many of them still waited. */
  readonly interrupted: number
  readonly notices: readonly Notice[]
}

/** Counts an interruption of each of these deliveries; the third makes it dead. The notices are not kept yet. */
export function* interrupt(database: RelayDatabase, deliveries: readonly number[], now: number): Plan<Interrupted> {
  const { list } = database.dialect
  const waiting = yield* rows(
    `UPDATE $schema.deliveries SET interruptions = interruptions + 1 WHERE state = 'pending' AND ${among(database, 'id', '?1')}
     RETURNING id, interruptions`,
    [list(deliveries)],
  )
  const poisonous = waiting.filter((row) => number(row, 'interruptions') >= maxInterruptions).map((row) => number(row, 'id'))
  if (poisonous.length === 0) return { interrupted: waiting.length, notices: [] }
  yield* rows(`UPDATE $schema.deliveries SET state = 'dead', at = ?2, outcome = 'poison' WHERE ${among(database, 'id', '?1')}`, [
    list(poisonous),
    now,
  ])
  const about = yield* rows(
    `SELECT e.event_id, e.network_id, p.id FROM $schema.deliveries d JOIN $schema.events e ON e.seq = d.event
     JOIN $schema.endpoints p ON p.ref = d.endpoint WHERE ${among(database, 'd.id', '?1')} ORDER BY d.id`,
    [list(poisonous)],
  )
  const notices = about.map(
    (row): Notice => ({
      kind: 'delivery.poisoned',
      network_id: text(row, 'network_id'),
      endpoint_id: text(row, 'id'),
      event_id: text(row, 'event_id'),
      text: `the relay crashed ${maxInterruptions} times while this delivery was in flight; the delivery is set aside`,
    }),
  )
  return { interrupted: waiting.length, notices }
}
