/** Takes records of the outbox over into the SQLite store. */
import type { DatabaseSync } from 'node:sqlite'
import type { EndpointUpsert } from '../../../../lib/outbox/record.ts'
import type { Reading } from '../../../../lib/outbox/source.ts'
import { endpointOf } from '../rows.ts'
import type { Endpoint, Notice, Taken } from '../store.ts'
import { type Addressed, Directory, noticeEvents, type Step, takeOver, type Walk } from '../take.ts'

/**
 * The statements and the endpoints in memory for taking readings over. Call it inside a transaction, and `reload` when that
 * was rolled back.
 */
export function createTaker(database: DatabaseSync) {
  const insertEvent = database.prepare(
    `INSERT INTO events (event_id, network_id, event_type, event_timestamp, taken, body) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (event_id) DO NOTHING`,
  )
  const insertDelivery = database.prepare(
    `INSERT INTO deliveries (event, endpoint, state, lane, due) VALUES (?, ?, 'pending', 0, ?)`,
  )
  const upsertEndpoint = database.prepare(
    `INSERT INTO endpoints (network_id, id, url, key, secrets, events, audience, enabled, "order", rate_per_second)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (network_id, id) DO UPDATE SET url = excluded.url, key = excluded.key, secrets = excluded.secrets,
       events = excluded.events, audience = excluded.audience, enabled = excluded.enabled, "order" = excluded."order",
       rate_per_second = excluded.rate_per_second, disabled = NULL, removed_at = NULL
     RETURNING *`,
  )
  const removeEndpoint = database.prepare(
    `UPDATE endpoints SET removed_at = ?, key = '', secrets = '[]', state = NULL WHERE ref = ?`,
  )
  const drop = database.prepare(`DELETE FROM deliveries WHERE endpoint = ? AND state = 'pending'`)
  const setPosition = database.prepare(
    'INSERT INTO positions VALUES (?, ?) ON CONFLICT DO UPDATE SET position = excluded.position',
  )
  const all = database.prepare('SELECT * FROM endpoints WHERE removed_at IS NULL')
  const readAll = () => new Directory(all.all().map(endpointOf))
  let directory = readAll()

  /** Gives the ids of the events that were not there yet. */
  function insert(events: readonly Addressed[], now: number, due: number): readonly string[] {
    return events.flatMap(({ record, receivers }) => {
      const { event_id, network_id, event_type, event_timestamp, body } = record
      const inserted = insertEvent.run(event_id, network_id, event_type, event_timestamp, now, Buffer.from(body))
      if (inserted.changes === 0) return []
      for (const { ref } of receivers) insertDelivery.run(inserted.lastInsertRowid, ref, due)
      return [event_id]
    })
  }

  function upsert(record: EndpointUpsert): Endpoint {
    const row = upsertEndpoint.get(
      record.network_id,
      record.id,
      record.url,
      record.key,
      JSON.stringify(record.secrets),
      record.events === null ? null : JSON.stringify(record.events),
      record.audience,
      record.enabled ? 1 : 0,
      record.order,
      record.rate_per_second,
    )
    return endpointOf(row ?? {})
  }

  function answer(step: Step, now: number, due: number): unknown {
    if (step.kind === 'events') return insert(step.events, now, due)
    if (step.kind === 'upsert') return upsert(step.record)
    removeEndpoint.run(now, step.endpoint.ref)
    return Number(drop.run(step.endpoint.ref).changes)
  }

  function go<T>(walk: Walk<T>, now: number, due: number): T {
    let step = walk.next()
    while (!step.done) step = walk.next(answer(step.value, now, due) as never)
    return step.value
  }

  return {
    take(reading: Reading, now: number, firstDelay: number): Taken {
      const taken = go(takeOver(reading.commits.flat(), reading.damage, directory), now, now + firstDelay)
      for (const [stream, position] of Object.entries(reading.positions)) setPosition.run(stream, position)
      return taken
    },
    /** Makes notices into events for the host, and gives the refs of the endpoints that have something to be sent by that. */
    tell(notices: readonly Notice[], now: number): readonly number[] {
      const events = noticeEvents(notices, directory, now)
      insert(events, now, now)
      return events.flatMap(({ receivers }) => receivers.map(({ ref }) => ref))
    },
    reload(): void {
      directory = readAll()
    },
  }
}
