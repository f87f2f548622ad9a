/**
 * Keeps the order of subjects in the SQLite store: of each subject the oldest waiting delivery is in a lane, the others are blocked.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Endpoint } from '../endpoint/relay-endpoint.ts'
import { blocked, number, text, textOrNull, unsorted } from '../rows.ts'

/** Arrivals put in order per tick, for each endpoint. */
const part = 1000

/** A later one of its subject. */
const overtaking = `EXISTS (SELECT 1 FROM deliveries e WHERE e.endpoint = deliveries.endpoint AND e.subject = deliveries.subject
  AND e.state = 'pending' AND e.event < deliveries.event)`
const inLane = 'lane = CASE WHEN attempts > 0 THEN 1 ELSE 0 END'

/** Call these inside a transaction. */
export function createOrder(database: DatabaseSync) {
  const arrivals = database.prepare(
    `SELECT id, subject FROM deliveries WHERE endpoint = ? AND lane = ${unsorted} AND state = 'pending' ORDER BY due, id LIMIT ${part}`,
  )
  const ofDelivery = database.prepare('SELECT endpoint, subject, state FROM deliveries WHERE id = ? AND subject IS NOT NULL')
  const heads = database.prepare(
    `SELECT id, event, lane FROM deliveries WHERE endpoint = ? AND subject = ? AND state = 'pending' ORDER BY event LIMIT 1`,
  )
  const formers = database.prepare(
    `SELECT id, lane FROM deliveries WHERE endpoint = ? AND subject = ? AND state = 'pending' AND event > ? AND lane <> ${unsorted}
     ORDER BY event LIMIT 1`,
  )
  const block = database.prepare(`UPDATE deliveries SET lane = ${blocked} WHERE id = ?`)
  const unblock = database.prepare(`UPDATE deliveries SET ${inLane} WHERE id = ?`)
  const release = database.prepare(
    `UPDATE deliveries SET ${inLane} WHERE endpoint = ? AND state = 'pending' AND lane IN (${blocked}, ${unsorted})`,
  )
  const name = database.prepare(
    `UPDATE deliveries SET subject = coalesce((SELECT subject FROM events WHERE seq = event), '')
     WHERE endpoint = ? AND state = 'pending' AND subject IS NULL`,
  )
  const holdBack = database.prepare(
    `UPDATE deliveries SET lane = ${blocked} WHERE endpoint = ? AND state = 'pending' AND lane <> ${blocked} AND ${overtaking}`,
  )
  const letGo = database.prepare(
    `UPDATE deliveries SET ${inLane} WHERE endpoint = ? AND state = 'pending' AND lane IN (${blocked}, ${unsorted}) AND NOT ${overtaking}`,
  )

  const keyOf = (endpoint: number, subject: string): string => `${endpoint} ${subject}`

  /** The subjects of which something is on its way. */
  function busySubjects(inFlight: ReadonlySet<number>): ReadonlySet<string> {
    const rows = [...inFlight].map((id) => ofDelivery.get(id))
    return new Set(rows.flatMap((row) => (row ? [keyOf(number(row, 'endpoint'), text(row, 'subject'))] : [])))
  }

  /** Puts one subject in order after some of its deliveries have come, ended or left. */
  function settle(endpoint: number, subject: string, seeds: readonly number[], busy: ReadonlySet<string>): void {
    const head = heads.get(endpoint, subject)
    if (!head) return
    const first = number(head, 'id')
    const former = formers.get(endpoint, subject, number(head, 'event'))
    const waits = busy.has(keyOf(endpoint, subject))
    for (const id of seeds) if (waits || id !== first) block.run(id)
    if (former && number(former, 'lane') < blocked) block.run(number(former, 'id'))
    if (!waits && number(head, 'lane') >= blocked) unblock.run(first)
  }

  return {
    /** @returns the endpoints of which more has come than was put in order now */
    arrange(endpoints: readonly number[], inFlight: ReadonlySet<number>): readonly number[] {
      const busy = busySubjects(inFlight)
      return endpoints.filter((endpoint) => {
        const rows = arrivals.all(endpoint)
        const bySubject = Map.groupBy(rows, (row) => textOrNull(row, 'subject') ?? '')
        for (const [subject, some] of bySubject)
          settle(
            endpoint,
            subject,
            some.map((row) => number(row, 'id')),
            busy,
          )
        return rows.length === part
      })
    },
    /** Lets the next deliveries of their subjects go, after the results of these. */
    settleResults(deliveries: readonly number[], inFlight: ReadonlySet<number>): void {
      if (deliveries.length === 0) return
      const busy = busySubjects(inFlight)
      for (const id of deliveries) {
        const row = ofDelivery.get(id)
        if (row) settle(number(row, 'endpoint'), text(row, 'subject'), text(row, 'state') === 'pending' ? [id] : [], busy)
      }
    },
    arrangeAll(endpoints: readonly Endpoint[], inFlight: ReadonlySet<number>): readonly number[] {
      for (const { ref, order } of endpoints) {
        if (order !== 'subject') {
          release.run(ref)
          continue
        }
        for (const step of [name, holdBack, letGo]) step.run(ref)
      }
      // The first one may not go while a later one is in flight.
      const ordered = new Set(endpoints.filter(({ order }) => order === 'subject').map(({ ref }) => ref))
      for (const id of ordered.size > 0 ? inFlight : []) {
        const row = ofDelivery.get(id)
        const head =
          row && ordered.has(number(row, 'endpoint')) ? heads.get(number(row, 'endpoint'), text(row, 'subject')) : undefined
        if (head && !inFlight.has(number(head, 'id'))) block.run(number(head, 'id'))
      }
      return []
    },
  }
}
