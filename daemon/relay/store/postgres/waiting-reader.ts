/** Waiting deliveries, read together with their contents. */
import { contentsOf, createBodies } from '../bodies.ts'
import { eventColumns, isEnabled, outgoing, waitingColumns } from '../plans/waiting.ts'
import { laneNumber, number, outgoingOf, type SqlRow, waitingOf } from '../rows.ts'
import type { RelayStore } from '../store.ts'
import type { PostgresDatabase } from './database.ts'

const next = (columns: string) => `SELECT ${columns} FROM unnest($1::bigint[]) AS ref CROSS JOIN LATERAL
    (SELECT ${waitingColumns}, endpoint FROM $schema.deliveries
     WHERE endpoint = ref AND lane = $2 AND state = 'pending' AND id <> ALL($4::bigint[]) AND ${isEnabled('ref.ref')}
     ORDER BY due, id LIMIT $3) AS d`
const peeking = `${next('d.*')} ORDER BY endpoint, due, id`
/** First attempts are usually due immediately, so what is to be sent is read with them. */
const peekingBodies = `${next('d.*, e.*')}
  CROSS JOIN LATERAL (SELECT ${eventColumns} FROM $schema.events WHERE seq = d.event OFFSET 0) AS e ORDER BY endpoint, due, id`

export function waitingReader(database: PostgresDatabase): Pick<RelayStore, 'readsAtOnce' | 'peek' | 'outgoing'> {
  const bodies = createBodies()
  return {
    readsAtOnce: 32,
    async peek(endpoints, which, limit, except = new Map()) {
      const values = [endpoints, laneNumber(which), limit, [...except.values()].flat()]
      const rows = await database.rows(which === 'first' ? peekingBodies : peeking, values)
      const read = (row: SqlRow) => {
        const waiting = waitingOf(row)
        if (which === 'first') bodies.keep(waiting, outgoingOf(row, waiting.delivery))
        return waiting
      }
      const byEndpoint = Map.groupBy(rows, (row) => number(row, 'endpoint'))
      return new Map([...byEndpoint].map(([endpoint, some]) => [endpoint, some.map(read)]))
    },
    outgoing: (deliveries) => contentsOf(deliveries, bodies, (missing) => database.read(() => outgoing(database, missing))),
  }
}
