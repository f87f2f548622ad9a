/**
 * Erases people from the store. An erasure is kept until every event that came before it was looked at. Done deliveries of an event
 * that names one of its ids go with their attempts, as they would when they are old. Pending deliveries are sent first, so that
 * receivers are notified of the erasure, and go an hour later at the earliest.
 */
import type { ErasureRecord } from '../../../../lib/outbox/record.ts'
import { among, given, type Plan, type RelayDatabase, row, rows, type SqlValue } from '../database.ts'
import { number, numberOrNull, text } from '../rows.ts'

/** Comparisons of an event with an id that one step makes, and the events that it looks at in any case. */
const [comparisons, leastEvents] = [1000, 20]
/** Milliseconds until what waited is looked at again. */
const pause = 3_600_000

/** Keeps an erasure. Events that come later are not about the person. */
export const keepErasure = ({ network_id, ids }: ErasureRecord, now: number): Plan<unknown> =>
  rows(
    `INSERT INTO $schema.erasures (network_id, ids, up_to, walked, due)
     SELECT CAST(?1 AS text), CAST(?2 AS text), coalesce(max(seq), 0), 0, CAST(?3 AS bigint) FROM $schema.events`,
    [network_id, JSON.stringify(ids), now],
  )

/** An id in the JSON of a body: the value of a field `id`, `member_id`, … as a text or a number. */
const partsOf = (id: string): readonly string[] => [`id":"${id}"`, `id":${id},`, `id":${id}}`]

/**
 * Goes on with an erasure that is due, for one step.
 * @returns whether there was one
 */
export function* eraseSome(database: RelayDatabase, now: number): Plan<boolean> {
  const { engine, list } = database.dialect
  // Several relays may do so concurrently.
  const passOver = engine === 'postgres' ? ' FOR UPDATE SKIP LOCKED' : ''
  const due = yield* row(
    `SELECT seq, network_id, ids, up_to, walked FROM $schema.erasures WHERE due <= ?1 ORDER BY seq LIMIT 1${passOver}`,
    [now],
  )
  if (!due) return false
  const [seq, network, walked] = [number(due, 'seq'), text(due, 'network_id'), number(due, 'walked')]
  const ids: readonly string[] = JSON.parse(text(due, 'ids'))
  const parts = JSON.stringify(ids.flatMap(partsOf).map((part) => [part]))
  const has = (column: string, parameter: string): string =>
    `EXISTS (SELECT 1 FROM ${given(database, parameter, { part: 'text' })} AS g
      WHERE ${engine === 'postgres' ? 'strpos' : 'instr'}(${column}, g.part) > 0)`
  const window = yield* row(
    `SELECT max(seq) AS last FROM (SELECT seq FROM $schema.events WHERE seq > ?1 AND seq <= ?2 ORDER BY seq
     LIMIT ${Math.max(leastEvents, Math.floor(comparisons / ids.length))}) AS w`,
    [walked, number(due, 'up_to')],
  )
  const last = numberOrNull(window ?? {}, 'last')
  if (last === null) {
    yield* rows(`DELETE FROM $schema.set_aside WHERE network_id = ?1 AND ${has('content', '?2')}`, [network, parts])
    yield* rows('DELETE FROM $schema.erasures WHERE seq = ?1 AND first_waiting IS NULL', [seq])
    yield* rows(
      'UPDATE $schema.erasures SET walked = first_waiting - 1, first_waiting = NULL, due = CAST(?2 AS bigint) WHERE seq = ?1',
      [seq, now + pause],
    )
    return true
  }
  const named = yield* rows(
    `SELECT e.seq FROM $schema.events e WHERE e.seq > ?1 AND e.seq <= ?2 AND e.network_id = ?3 AND ${has('e.body', '?4')}`,
    [walked, last, network, parts],
  )
  const waiting = named.length === 0 ? null : yield* removeDone(database, list(named.map((each) => number(each, 'seq'))))
  yield* rows(
    'UPDATE $schema.erasures SET walked = CAST(?2 AS bigint), first_waiting = coalesce(first_waiting, CAST(?3 AS bigint)) WHERE seq = ?1',
    [seq, last, waiting],
  )
  return true
}

/**
 * Removes the deliveries of events that are done, and the events that have no other.
 * @returns the first event that waits
 */
function* removeDone(database: RelayDatabase, events: SqlValue): Plan<number | null> {
  const { list } = database.dialect
  const done = yield* rows(
    `DELETE FROM $schema.deliveries WHERE ${among(database, 'event', '?1')} AND state <> 'pending' RETURNING id`,
    [events],
  )
  if (done.length > 0)
    yield* rows(`DELETE FROM $schema.attempts WHERE ${among(database, 'delivery', '?1')}`, [
      list(done.map((each) => number(each, 'id'))),
    ])
  const waiting = yield* row(`SELECT min(event) AS first FROM $schema.deliveries WHERE ${among(database, 'event', '?1')}`, [
    events,
  ])
  yield* rows(
    `DELETE FROM $schema.events WHERE ${among(database, 'seq', '?1')}
     AND NOT EXISTS (SELECT 1 FROM $schema.deliveries WHERE event = events.seq)`,
    [events],
  )
  return numberOrNull(waiting ?? {}, 'first')
}
