/** Waiting deliveries, read together with their contents. Rows are lists: as objects they cost twice as much. */
import { BoundedMap } from '../../../../lib/base/bounded.ts'
import { contentsOf, createBodies } from '../bodies.ts'
import { outgoing, waitingColumns } from '../plans/waiting.ts'
import { isIntact, laneNumber } from '../rows.ts'
import type { Lane, Outgoing, RelayStore, Waiting } from '../store.ts'
import type { SqliteDatabase } from './database.ts'

/** Larger bodies are read when they are sent: many of them may wait. */
const smallBody = 8 * 1024
/** Contents that one read remembers for the next endpoints. */
const mostContents = 256

type WaitingRow = [delivery: number, event: number, lane: number, due: number, attempts: number, interruptions: number]
/** A larger body is null. */
type ContentRow = [
  ...[id: string, type: string, network_id: string, received_at: number, trace: string | null, changed: string | null],
  ...[body: Uint8Array | null, crc: number | null],
]
type Content = Omit<Outgoing, 'delivery'>

const peeking = (others = '') => `SELECT ${waitingColumns} FROM deliveries
  WHERE endpoint = ? AND lane = ? AND state = 'pending' ${others} ORDER BY due, id LIMIT ?`
const content = `SELECT event_id, event_type, network_id, received_at, trace, changed, CASE WHEN length(body) <= ${smallBody} THEN body END, crc
  FROM events WHERE seq = ?`

const waitingOf = ([delivery, event, lane, due, attempts, interruptions]: WaitingRow): Waiting => ({
  delivery,
  event,
  lane: lane === 0 ? 'first' : 'retry',
  due,
  attempts,
  interruptions,
})

export function waitingReader(database: SqliteDatabase): Pick<RelayStore, 'readsAtOnce' | 'peek' | 'outgoing'> {
  const bodies = createBodies()
  const prepare = (sql: string) => {
    const statement = database.connection.prepare(sql)
    statement.setReturnArrays(true)
    return statement
  }
  const peekAll = prepare(peeking())
  // A list, even an empty one, costs as much as the rest of a small read.
  const peekOthers = prepare(peeking('AND id NOT IN (SELECT value FROM json_each(?))'))
  const readContent = prepare(content)

  function peek(endpoint: number, lane: Lane, limit: number, except: readonly number[] = []): readonly Waiting[] {
    const place = [endpoint, laneNumber(lane)] as const
    const found: unknown =
      except.length === 0 ? peekAll.all(...place, limit) : peekOthers.all(...place, JSON.stringify(except), limit)
    return (found as WaitingRow[]).map(waitingOf)
  }

  function contentOf(event: number): Content | undefined {
    const found = readContent.get(event) as unknown as ContentRow | undefined
    if (!found) return undefined
    const [event_id, event_type, network_id, received_at, trace, changed, body, crc] = found
    if (!body) return undefined
    return { event_id, event_type, network_id, received_at, trace, changed, body, intact: isIntact(body, crc) }
  }

  /** Keeps contents with the deliveries. An event that goes to many endpoints is read once. */
  function contentKeeper(): (waiting: Waiting) => void {
    const contents = new BoundedMap<number, Content | undefined>(mostContents)
    return (waiting) => {
      const { event, delivery } = waiting
      if (!contents.has(event)) contents.set(event, contentOf(event))
      const found = contents.get(event)
      if (found) bodies.keep(waiting, { delivery, ...found })
    }
  }

  return {
    readsAtOnce: 128,
    async peek(endpoints, lane, limit, except) {
      const keep = contentKeeper()
      // First attempts are usually due immediately, so what is to be sent is read with them.
      const peekAndKeep = (endpoint: number): readonly Waiting[] => {
        const waiting = peek(endpoint, lane, limit, except?.get(endpoint))
        if (lane === 'first') waiting.forEach(keep)
        return waiting
      }
      return database.snapshotNow(() => new Map(endpoints.map((endpoint) => [endpoint, peekAndKeep(endpoint)])))
    },
    outgoing: (deliveries) => contentsOf(deliveries, bodies, (missing) => database.read(() => outgoing(database, missing))),
  }
}
