/** Records ticks of the scheduler: one statement, which holds only as long as the lease does. */
import { countingOf } from '../hours.ts'
import type { Ingester } from '../plans/ingest.ts'
import { LeaseLost, type Recorded, type Result, type Tick } from '../store.ts'
import type { PostgresDatabase, Session } from './database.ts'
import { type Leases, renewal } from './leases.ts'
import { settleResults } from './order.ts'

/**
 * The lease is checked and renewed by the statement that records results: no moment lies between.
 *
 * Deliveries are found by their numbers: `= ANY` is a condition of the primary key, and no index is of use for `CASE`. By the index of what
 * waits, a planner without statistics would read everything that waits, in each tick.
 */
const recording = `
  WITH lease AS (UPDATE $schema.relays SET ${renewal}, in_flight = $3::bigint[] WHERE id = $1 RETURNING id),
  given AS (
    SELECT g.* FROM lease, unnest($4::bigint[], $5::text[], $6::bigint[], $7::int[], $8::bigint[], $9::int[], $10::int[],
      $11::text[], $12::text[], $13::text[], $14::text[])
      AS g (id, state, due, attempts, at, milliseconds, status, outcome, answer, reason, answer_headers)),
  recorded AS (
    UPDATE $schema.deliveries d SET state = g.state, lane = 1, due = g.due, attempts = g.attempts, interruptions = 0, at = g.at,
      milliseconds = g.milliseconds, status = g.status, outcome = g.outcome
    FROM given g WHERE d.id = ANY($4::bigint[]) AND d.id = g.id
      AND CASE d.state WHEN 'pending' THEN true WHEN 'skipped' THEN g.state = 'delivered' ELSE false END RETURNING d.id, d.endpoint),
  kept AS (
    INSERT INTO $schema.attempts (delivery, number, at, milliseconds, status, outcome, answer, reason, answer_headers)
    SELECT id, attempts, at, milliseconds, status, outcome, answer, reason, answer_headers FROM given JOIN recorded USING (id)
    -- A delivery that succeeded at its first attempt has no row of its own here.
    WHERE state <> 'delivered' OR attempts > 1
    ON CONFLICT DO NOTHING),
  counted AS (${countingOf('SELECT r.endpoint, g.at, g.milliseconds, g.status, g.outcome FROM given g JOIN recorded r USING (id)')}),
  states AS (
    UPDATE $schema.endpoints e SET state = coalesce(s.state, e.state),
      disabled = CASE WHEN e.fresh_starts = s.fresh_starts THEN s.disabled ELSE e.disabled END
    FROM lease, unnest($15::bigint[], $16::text[], $17::text[], $18::bigint[]) AS s (ref, state, disabled, fresh_starts)
    WHERE e.ref = ANY($15::bigint[]) AND e.ref = s.ref AND e.removed_at IS NULL)
  SELECT 1 FROM lease`

/** The endpoints of a tick: their state, why they are disabled, and how often they had been reset; null leaves what was. */
function endpointsOf({ states, disable }: Tick): readonly (readonly [number, string | null, string | null, number | null])[] {
  const refs = [...new Set([...states.keys(), ...disable.keys()])].sort((a, b) => a - b)
  return refs.map((ref) => {
    const state = states.get(ref)
    const { reason = null, fresh_starts = null } = disable.get(ref) ?? {}
    return [ref, state ? JSON.stringify(state) : null, reason, fresh_starts]
  })
}

export async function recordTick(
  database: PostgresDatabase,
  leases: Leases,
  ingester: Ingester,
  tick: Tick,
  now: number,
): Promise<Recorded> {
  const column = <K extends keyof Result>(name: K) => tick.results.map((result) => result[name])
  const endpoints = endpointsOf(tick)
  await leases.requireResponses()
  const sentAt = leases.time.moment()
  const values = [
    ...[leases.id, leases.time.length, [...tick.inFlight]],
    ...[column('delivery'), column('state'), column('due'), column('attempts'), column('at'), column('milliseconds')],
    ...[column('status'), column('outcome'), column('answer'), column('reason'), column('answer_headers')],
    ...[endpoints.map(([ref]) => ref), endpoints.map(([, state]) => state)],
    ...[endpoints.map(([, , reason]) => reason), endpoints.map(([, , , resets]) => resets)],
  ]
  const record = async (runner: Pick<Session, 'rows'>): Promise<void> => {
    const [lease] = await runner.rows(recording, values)
    if (!lease) throw new LeaseLost(`relay ${leases.id} was reaped`)
  }

  if (tick.notices.length + tick.ordered.length === 0) {
    await record(database)
    leases.time.renewed(sentAt)
    return { refs: [], notices: [] }
  }
  const recorded = await database.session(async (session) => {
    // First: a relay that ingests holds the version, and waits for rows of the tick.
    const notified = await session.run(ingester.notify(tick.notices, now, tick.disable))
    await record(session)
    await settleResults(session, tick.ordered, tick.inFlight)
    return notified
  }, tick.notices.length > 0)
  leases.time.renewed(sentAt)
  return recorded
}
