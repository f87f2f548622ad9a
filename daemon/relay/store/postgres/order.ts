/** Keeps the order of subjects in the store on PostgreSQL: of each subject the oldest waiting delivery stands in a lane, the others behind. */
import { arriving, behind, number } from '../rows.ts'
import { type Endpoint, LeaseLost } from '../store.ts'
import { type Database, durable, type Session } from './database.ts'

/** Arrivals put in order at once, for each endpoint. */
const part = 1000
const inLane = 'lane = least(attempts, 1)'
/** A later one of its subject. */
const overtaking = `EXISTS (SELECT 1 FROM $schema.deliveries e WHERE e.endpoint = d.endpoint AND e.subject = d.subject
  AND e.state = 'pending' AND e.event < d.event)`

/** $1: endpoints with arrivals. $2: what is in flight. $3: what has landed. */
const arranging = `
  WITH seeds AS (
    SELECT d.* FROM unnest($1::bigint[]) AS ref CROSS JOIN LATERAL (
      SELECT id, endpoint, subject, state FROM $schema.deliveries
      WHERE endpoint = ref AND lane = ${arriving} AND state = 'pending' ORDER BY due, id LIMIT ${part}) AS d
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
        AND event > h.event AND lane <> ${arriving} ORDER BY event LIMIT 1) AS f),
  first AS (SELECT id FROM heads WHERE NOT waits),
  put AS (
    UPDATE $schema.deliveries d
    SET lane = CASE WHEN d.id IN (SELECT id FROM first) THEN least(d.attempts, 1) ELSE ${behind} END
    WHERE d.state = 'pending' AND (d.lane >= ${behind} OR d.id NOT IN (SELECT id FROM first)) AND d.id IN (
      SELECT id FROM seeds WHERE state = 'pending' UNION SELECT id FROM first
      UNION SELECT id FROM formers WHERE lane < ${behind}))
  SELECT endpoint, count(*) AS n FROM seeds GROUP BY endpoint`

/** In the transaction that records their results: lets the next ones of their subjects go. */
export async function landed(session: Session, deliveries: readonly number[], inFlight: ReadonlySet<number>): Promise<void> {
  if (deliveries.length > 0) await session.rows(arranging, [[], [...inFlight], deliveries])
}

/** Only the relay that has the endpoints puts their deliveries in order: whoever buries it waits for the end of this. */
async function hold(session: Session, relay: string): Promise<void> {
  const [row] = await session.rows('SELECT id FROM $schema.relays WHERE id = $1 FOR UPDATE', [relay])
  if (!row) throw new LeaseLost(`relay ${relay} was buried`)
}

/** @returns the endpoints of which more has come than was put in order now */
export function arrange(
  database: Database,
  relay: string,
  endpoints: readonly number[],
  inFlight: ReadonlySet<number>,
): Promise<readonly number[]> {
  return database.transaction(async (session) => {
    await hold(session, relay)
    const rows = await session.rows(arranging, [endpoints, [...inFlight], []])
    return rows.filter((row) => number(row, 'n') >= part).map((row) => number(row, 'endpoint'))
  })
}

export async function arrangeAll(
  database: Database,
  relay: string,
  endpoints: readonly Endpoint[],
  inFlight: ReadonlySet<number>,
): Promise<void> {
  const refs = (ordered: boolean) => endpoints.filter(({ order }) => (order === 'subject') === ordered).map(({ ref }) => ref)
  await database.transaction(async (session) => {
    await durable(session)
    await hold(session, relay)
    const ofThese = `d.endpoint = ANY($1::bigint[]) AND d.state = 'pending'`
    const update = (set: string, which: string) => `UPDATE $schema.deliveries d SET ${set} WHERE ${ofThese} AND ${which}`
    const apart = `d.lane IN (${behind}, ${arriving})`
    if (refs(false).length > 0) await session.rows(update(inLane, apart), [refs(false)])
    if (refs(true).length === 0) return
    const subject = `coalesce((SELECT e.subject FROM $schema.events e WHERE e.seq = d.event), '')`
    await session.rows(update(`subject = ${subject}`, 'd.subject IS NULL'), [refs(true)])
    await session.rows(update(`lane = ${behind}`, `d.lane <> ${behind} AND ${overtaking}`), [refs(true)])
    await session.rows(update(inLane, `${apart} AND NOT ${overtaking}`), [refs(true)])
    // What stands first may not go while a later one is still on its way.
    await session.rows(
      update(
        `lane = ${behind}`,
        `NOT d.id = ANY($2::bigint[]) AND d.lane < ${behind} AND EXISTS (SELECT 1 FROM $schema.deliveries f
           WHERE f.id = ANY($2::bigint[]) AND f.endpoint = d.endpoint AND f.subject = d.subject)`,
      ),
      [refs(true), [...inFlight]],
    )
  })
}
