/** Inserts events into the store on PostgreSQL: one round trip, however many they are. */
import { crc32 } from 'node:zlib'
import { type Plan, rows, type SqlValue } from '../database.ts'
import type { Addressed } from '../endpoint/endpoint-index.ts'
import { traceOf } from '../plans/event-trace.ts'
import { text, unsorted } from '../rows.ts'

/**
 * All bodies are one parameter, of bytes: in a list of texts, both sides would look at each character for its quotes.
 * @param onlyIf a table of one row, or of none: then nothing is inserted
 */
export const insertion = (onlyIf = '') => `
  given AS (
    SELECT *, convert_from(substring(?5::bytea FROM start FOR length), 'UTF8') AS body
    FROM unnest(?1::text[], ?2::text[], ?3::text[], ?4::text[], ?6::int[], ?7::int[], ?8::bigint[], ?9::text[], ?15::text[], ?16::text[])
      WITH ORDINALITY AS g (event_id, network_id, event_type, event_timestamp, start, length, crc, subject, trace, changed, place)),
  fresh AS (
    INSERT INTO $schema.events (event_id, network_id, event_type, event_timestamp, received_at, body, crc, subject, trace, changed)
    SELECT event_id, network_id, event_type, event_timestamp, ?10::bigint, body, crc, subject, trace, changed FROM given${onlyIf} ORDER BY place
    ON CONFLICT (event_id) DO NOTHING RETURNING seq, event_id, subject),
  addressed AS (
    SELECT DISTINCT * FROM unnest(?12::text[], ?13::bigint[], ?14::boolean[]) AS a (event_id, endpoint, ordered)),
  sent AS (
    INSERT INTO $schema.deliveries (event, endpoint, state, lane, due, subject)
    SELECT fresh.seq, a.endpoint, 'pending', CASE WHEN a.ordered THEN ${unsorted} ELSE 0 END, ?11::bigint,
      CASE WHEN a.ordered THEN coalesce(fresh.subject, '') END
    FROM addressed a JOIN fresh USING (event_id) ORDER BY fresh.seq, a.endpoint)`

const inserting = `WITH ${insertion()} SELECT event_id FROM fresh`

export function* insertEvents(events: readonly Addressed[], received_at: number, due: number): Plan<readonly string[]> {
  const found = yield* rows(inserting, valuesOf(events, received_at, due))
  return found.map((each) => text(each, 'event_id'))
}

/** The values of `insertion`: ?1 to ?16. */
export function valuesOf(events: readonly Addressed[], received_at: number, due: number): readonly SqlValue[] {
  const column = (name: 'event_id' | 'network_id' | 'event_type' | 'event_timestamp') => events.map(({ record }) => record[name])
  const bodies = events.map(({ record }) => Buffer.from(record.body))
  const lengths = bodies.map(({ length }) => length)
  let end = 0
  const starts = lengths.map((length) => {
    end += length
    return end - length + 1
  })
  const deliveries = events.flatMap(({ record, receivers }) =>
    receivers.map(({ ref, order }) => ({ event_id: record.event_id, ref, ordered: order === 'subject' })),
  )
  return [
    ...[column('event_id'), column('network_id'), column('event_type'), column('event_timestamp')],
    ...[
      Buffer.concat(bodies),
      starts,
      lengths,
      bodies.map((body) => crc32(body)),
      events.map(({ record }) => record.subject ?? null),
      received_at,
      due,
    ],
    ...[deliveries.map((each) => each.event_id), deliveries.map(({ ref }) => ref), deliveries.map(({ ordered }) => ordered)],
    events.map(traceOf),
    events.map(({ record }) => record.changed?.join() ?? null),
  ]
}
