/** Waiting deliveries, read together with their contents. Rows are lists: as objects they cost twice as much. */
import { contentsOf, createBodies } from '../bodies.ts'
import { outgoing, waitingColumns } from '../plans/waiting.ts'
import { isIntact, laneNumber } from '../rows.ts'
import type { Lane, RelayStore, Waiting } from '../store.ts'
import type { SqliteDatabase } from './database.ts'

/** Larger bodies are read when they are sent: many of them may wait. */
const smallBody = 8 * 1024

type WaitingRow = [delivery: number, event: number, lane: number, due: number, attempts: number, interruptions: number]
/** A larger body is null. */
type Content = [id: string, type: string, network_id: string, received_at: number, body: Uint8Array | null, crc: number | null]

const next = (columns: string, joined = '') => `SELECT ${columns} FROM deliveries ${joined}
  WHERE endpoint = ? AND lane = ? AND state = 'pending' AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY due, id LIMIT ?`
const peeking = next(waitingColumns)
/** First attempts are due at once, as a rule, so what is to be sent is read with them. */
const peekingBodies = next(
  `event_id, event_type, network_id, received_at, CASE WHEN length(body) <= ${smallBody} THEN body END, crc, ${waitingColumns}`,
  'CROSS JOIN events ON seq = event',
)

const waitingOf = ([delivery, event, lane, due, attempts, interruptions]: WaitingRow): Waiting => ({
  delivery,
  event,
  lane: lane === 0 ? 'first' : 'retry',
  due,
  attempts,
  interruptions,
})

export function readingAhead(database: SqliteDatabase): Pick<RelayStore, 'readsAtOnce' | 'peek' | 'outgoing'> {
  const bodies = createBodies()
  const { connection } = database
  const statements = { first: connection.prepare(peekingBodies), retry: connection.prepare(peeking) }
  for (const statement of Object.values(statements)) statement.setReturnArrays(true)

  function keep([event_id, event_type, network_id, received_at, body, crc, ...rest]: [...Content, ...WaitingRow]): Waiting {
    const waiting = waitingOf(rest)
    const { delivery } = waiting
    if (body) bodies.keep(waiting, { delivery, event_id, event_type, network_id, received_at, body, intact: isIntact(body, crc) })
    return waiting
  }

  function peek(endpoint: number, lane: Lane, limit: number, except: string): readonly Waiting[] {
    const found: unknown = statements[lane].all(endpoint, laneNumber(lane), except, limit)
    return lane === 'first' ? (found as [...Content, ...WaitingRow][]).map(keep) : (found as WaitingRow[]).map(waitingOf)
  }

  return {
    readsAtOnce: 128,
    async peek(endpoints, lane, limit, except = []) {
      const list = JSON.stringify(except)
      return new Map(endpoints.map((endpoint) => [endpoint, peek(endpoint, lane, limit, list)]))
    },
    outgoing: (deliveries) => contentsOf(deliveries, bodies, (missing) => database.read(() => outgoing(database, missing))),
  }
}
