/**
 * Keeps the order of subjects in the store on PostgreSQL: of each subject the oldest waiting delivery is in a lane, the others
 * are blocked.
 */

import type { Endpoint } from '../endpoint/relay-endpoint.ts'
import { blocked, number, text, unsorted } from '../rows.ts'
import { LeaseLost } from '../store.ts'
import type { PostgresDatabase, Session } from './database.ts'

/** Deliveries put in order per tick, for each endpoint. */
const part = 1000
/** Endpoints whose deliveries are looked through per tick. */
const endpointsAtOnce = 20

/** How far everything that waits for an endpoint has been looked through, in the order of its subjects and their events. */
interface Reached {
  readonly subject: string
  readonly event: number
}

/** By the definition for which they are looked through: a new one begins from the start. */
export type Progress = WeakMap<Endpoint, Reached>

/**
 * Whether a delivery waits, for statements that have its number. No index is of use for `CASE`: by that of what waits, a planner without
 * statistics would read everything that waits.
 */
const waits = `CASE d.state WHEN 'pending' THEN true ELSE false END`

/** $1: endpoints with arrivals. $2: what is in flight. $3: what has a result. */
const arranging = `
  WITH seeds AS (
    SELECT d.* FROM unnest($1::bigint[]) AS ref CROSS JOIN LATERAL (
      SELECT id, endpoint, subject, state FROM $schema.deliveries
      WHERE endpoint = ref AND lane = ${unsorted} AND state = 'pending' ORDER BY due, id LIMIT ${part}) AS d
    UNION ALL
    SELECT id, endpoint, subject, state FROM $schema.deliveries WHERE id = ANY($3::bigint[]) AND subject IS NOT NULL),
  busy AS (SELECT DISTINCT endpoint, subject FROM $schema.deliveries WHERE id = ANY($2::bigint[]) AND subject IS NOT NULL),
  heads AS (
    SELECT s.endpoint, s.subject, h.id, h.event,
      EXISTS (SELECT 1 FROM busy b WHERE b.endpoint = s.endpoint AND b.subject = s.subject) AS waits
    FROM (SELECT DISTINCT endpoint, subject FROM seeds) s CROSS JOIN LATERAL (
      SELECT id, event FROM $schema.deliveries WHERE endpoint = s.endpoint AND subject = s.subject AND state = 'pending'
      ORDER BY event LIMIT 1) AS h),
  formers AS (
    SELECT f.id, f.lane FROM heads h CROSS JOIN LATERAL (
      SELECT id, lane FROM $schema.deliveries WHERE endpoint = h.endpoint AND subject = h.subject AND state = 'pending'
        AND event > h.event AND lane <> ${unsorted} ORDER BY event LIMIT 1) AS f),
  first AS (SELECT id FROM heads WHERE NOT waits),
  put AS (
    UPDATE $schema.deliveries d
    SET lane = CASE WHEN d.id IN (SELECT id FROM first) THEN least(d.attempts, 1) ELSE ${blocked} END
    WHERE ${waits} AND (d.lane >= ${blocked} OR d.id NOT IN (SELECT id FROM first)) AND d.id = ANY (ARRAY (
      SELECT id FROM seeds WHERE state = 'pending' UNION SELECT id FROM first
      UNION SELECT id FROM formers WHERE lane < ${blocked})))
  SELECT endpoint, count(*) AS n FROM seeds GROUP BY endpoint`

/** In the transaction that records their results: lets the next ones of their subjects go. */
export async function settleResults(
  session: Session,
  deliveries: readonly number[],
  inFlight: ReadonlySet<number>,
): Promise<void> {
  if (deliveries.length > 0) await session.rows(arranging, [[], [...inFlight], deliveries])
}

/** Only the relay that has the endpoints puts their deliveries in order: a relay that reaps it waits for the end of this. */
async function hold(session: Session, relay: string): Promise<void> {
  const [row] = await session.rows('SELECT id FROM $schema.relays WHERE id = $1 FOR UPDATE', [relay])
  if (!row) throw new LeaseLost(`relay ${relay} was reaped`)
}

/** @returns the endpoints of which more has come than was put in order now */
export function arrange(
  database: PostgresDatabase,
  relay: string,
  endpoints: readonly number[],
  inFlight: ReadonlySet<number>,
): Promise<readonly number[]> {
  return database.session(async (session) => {
    await hold(session, relay)
    const rows = await session.rows(arranging, [endpoints, [...inFlight], []])
    return rows.filter((row) => number(row, 'n') >= part).map((row) => number(row, 'endpoint'))
  })
}

/** Deliveries that are in no lane. $1: endpoints. */
const apart = `state = 'pending' AND lane IN (${blocked}, ${unsorted})`
const freeing = `
  WITH freed AS (
    UPDATE $schema.deliveries SET lane = least(attempts, 1) WHERE id IN (
      SELECT id FROM $schema.deliveries WHERE endpoint = ANY($1::bigint[]) AND ${apart} LIMIT ${part})
    RETURNING 1)
  SELECT count(*) AS n FROM freed`
const unfreed = `SELECT ref FROM unnest($1::bigint[]) AS ref
  WHERE EXISTS (SELECT 1 FROM $schema.deliveries WHERE endpoint = ref AND ${apart})`

/** Gives their subjects to deliveries that came under another order, and blocks them until they are sorted. $1: endpoints. */
const naming = `
  WITH named AS (
    UPDATE $schema.deliveries d
    SET lane = ${blocked}, subject = coalesce((SELECT e.subject FROM $schema.events e WHERE e.seq = d.event), '')
    FROM unnest($1::bigint[]) AS ref CROSS JOIN LATERAL (
      SELECT id FROM $schema.deliveries
      WHERE endpoint = ref AND state = 'pending' AND lane IN (0, 1, ${unsorted}) AND subject IS NULL LIMIT ${part}) AS found
    WHERE d.id = found.id RETURNING d.endpoint)
  SELECT endpoint FROM named GROUP BY endpoint HAVING count(*) >= ${part}`

/**
 * Reads the next part of each endpoint, along the index of subjects: the first delivery of each subject belongs into a lane.
 * $1: endpoints; $2, $3: the end of the part read before; $4: whether one was read before.
 */
const sorting = `
  WITH chunk AS (
    SELECT ref, found.*, lag(found.subject, 1, former) OVER (PARTITION BY ref ORDER BY found.subject, found.event)
      IS DISTINCT FROM found.subject AS first
    FROM (SELECT ref, subject, event, CASE WHEN begun THEN subject END AS former
          FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::boolean[]) AS g (ref, subject, event, begun)) AS reached
    CROSS JOIN LATERAL (
      SELECT id, subject, event, lane FROM $schema.deliveries d
      WHERE d.endpoint = reached.ref AND d.state = 'pending' AND d.subject IS NOT NULL
        AND (d.subject, d.event) > (reached.subject, reached.event)
      ORDER BY d.subject, d.event LIMIT ${part}) AS found),
  put AS (
    UPDATE $schema.deliveries d SET lane = CASE WHEN c.first THEN least(d.attempts, 1) ELSE ${blocked} END FROM chunk c
    WHERE d.id = ANY (ARRAY (SELECT id FROM chunk)) AND d.id = c.id AND ${waits}
      AND CASE WHEN c.first THEN d.lane >= ${blocked} ELSE d.lane <> ${blocked} END)
  SELECT DISTINCT ON (ref) ref, subject, event, count(*) OVER (PARTITION BY ref) AS n FROM chunk
  ORDER BY ref, subject DESC, event DESC`

/** The first one may not go while a later one is in flight. $1: endpoints. $2: the deliveries in flight. */
const waiting = `
  UPDATE $schema.deliveries d SET lane = ${blocked} WHERE ${waits} AND id = ANY (ARRAY (
    SELECT h.id FROM (
      SELECT DISTINCT endpoint, subject FROM $schema.deliveries
      WHERE id = ANY($2::bigint[]) AND endpoint = ANY($1::bigint[]) AND subject IS NOT NULL) AS busy
    CROSS JOIN LATERAL (
      SELECT id, lane FROM $schema.deliveries d WHERE d.endpoint = busy.endpoint AND d.subject = busy.subject AND d.state = 'pending'
      ORDER BY d.event LIMIT 1) AS h
    WHERE h.lane < ${blocked} AND NOT h.id = ANY($2::bigint[])))`

const refsOf = (endpoints: readonly Endpoint[]): readonly number[] => endpoints.map(({ ref }) => ref)

/** @returns the endpoints of which more has to be freed */
async function free(session: Session, refs: readonly number[]): Promise<readonly number[]> {
  if (refs.length === 0) return []
  const [freed = {}] = await session.rows(freeing, [refs])
  if (number(freed, 'n') < part) return []
  return (await session.rows(unfreed, [refs])).map((row) => number(row, 'ref'))
}

/** @returns what of these was not looked through to the end, with how far */
async function sort(
  session: Session,
  endpoints: readonly Endpoint[],
  inFlight: ReadonlySet<number>,
  progress: Progress,
): Promise<ReadonlyMap<number, Reached>> {
  const refs = refsOf(endpoints)
  const reached = endpoints.map((each) => progress.get(each))
  const rows = await session.rows(sorting, [
    refs,
    reached.map((each) => each?.subject ?? ''),
    reached.map((each) => each?.event ?? -1),
    reached.map((each) => each !== undefined),
  ])
  const more = rows.filter((row) => number(row, 'n') >= part)
  const unfinished = new Map(
    more.map((row) => [number(row, 'ref'), { subject: text(row, 'subject'), event: number(row, 'event') }]),
  )
  const done = refs.filter((ref) => !unfinished.has(ref))
  if (done.length > 0 && inFlight.size > 0) await session.rows(waiting, [done, [...inFlight]])
  return unfinished
}

/**
 * A part of the way: a statement's work does not grow with what waits, and other endpoints are sent to between two parts.
 * @returns the endpoints that are not in order yet
 */
export async function arrangeAll(
  database: PostgresDatabase,
  relay: string,
  endpoints: readonly Endpoint[],
  inFlight: ReadonlySet<number>,
  progress: Progress,
): Promise<readonly number[]> {
  const others = endpoints.filter(({ order }) => order !== 'subject')
  const ordered = endpoints.filter(({ order }) => order === 'subject')
  const now = ordered.slice(0, endpointsAtOnce)
  const { freed, named, sorted, unfinished } = await database.session(async (session) => {
    await hold(session, relay)
    const freed = await free(session, refsOf(others))
    const named = now.length === 0 ? [] : (await session.rows(naming, [refsOf(now)])).map((row) => number(row, 'endpoint'))
    const sorted = now.filter(({ ref }) => !named.includes(ref))
    const unfinished = sorted.length === 0 ? new Map<number, Reached>() : await sort(session, sorted, inFlight, progress)
    return { freed, named, sorted, unfinished }
  }, true)
  for (const each of sorted) {
    const reached = unfinished.get(each.ref)
    if (reached) progress.set(each, reached)
    else progress.delete(each)
  }
  return [...freed, ...named, ...unfinished.keys(), ...refsOf(ordered.slice(endpointsAtOnce))]
}
