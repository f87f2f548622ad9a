/** Decides by the filter of an endpoint about events that were ingested while no relay knew it. */
import type { Filter } from '../../../../lib/outbox/filter.ts'
import { wantsBody } from '../../../../lib/outbox/wanted.ts'
import { among, type Plan, type RelayDatabase, rows } from '../database.ts'
import { namesIn, number, text, textOrNull } from '../rows.ts'

/** Bodies that one statement reads. */
const atOnce = 500

/** @param since milliseconds of the relay's timeline: earlier events were decided before */
export function* decide(database: RelayDatabase, ref: number, filter: Filter, since: number): Plan<void> {
  for (let after = 0; ; ) {
    const waiting = yield* rows(undecided, [ref, since, after])
    const unwanted = waiting.filter((each) => !wantsBody(filter, bodyOf(each['body']), namesIn(textOrNull(each, 'changed'))))
    if (unwanted.length > 0)
      yield* rows(`DELETE FROM $schema.deliveries WHERE ${among(database, 'id', '?1')}`, [
        database.dialect.list(unwanted.map((each) => number(each, 'id'))),
      ])
    const last = waiting.at(-1)
    if (!last || waiting.length < atOnce) return
    after = number(last, 'id')
  }
}

const bodyOf = (stored: unknown): string =>
  stored instanceof Uint8Array ? Buffer.from(stored).toString() : text({ stored }, 'stored')

const undecided = `SELECT d.id, e.body, e.changed FROM $schema.deliveries d JOIN $schema.events e ON e.seq = d.event
  WHERE d.endpoint = ?1 AND d.state = 'pending' AND e.received_at >= ?2 AND d.id > ?3 ORDER BY d.id LIMIT ${atOnce}`
