/** Takes records of the outbox over into the SQLite store. */
import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from '../../../../lib/base/crc32.ts'
import type { EndpointUpsert, EventRecord } from '../../../../lib/outbox/record.ts'
import type { Reading } from '../../../../lib/outbox/source.ts'
import { endpointOf, recordedAssignments, recordedColumns, recordedValues } from '../endpoint-row.ts'
import { arriving } from '../rows.ts'
import type { Endpoint, Ingested, Notice } from '../store.ts'
import {
  type Addressed,
  Directory,
  noticeEvents,
  RefusedRecord,
  type Step,
  subjectOfRecord,
  takeOver,
  type Walk,
} from '../take.ts'
import { isRecordsFault } from './errors.ts'

/**
 * The statements and the endpoints in memory for taking readings over. Call it inside a transaction, and `reload` when that
 * was rolled back.
 */
export function createTaker(database: DatabaseSync) {
  const insertEvent = database.prepare(
    `INSERT INTO events (event_id, network_id, event_type, event_timestamp, taken, body, crc, subject) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (event_id) DO NOTHING`,
  )
  const insertDelivery = database.prepare(
    `INSERT INTO deliveries (event, endpoint, state, lane, due, subject) VALUES (?, ?, 'pending', ?, ?, ?)`,
  )
  const upsertEndpoint = database.prepare(
    `INSERT INTO endpoints (${recordedColumns.join(', ')}) VALUES (${recordedColumns.map(() => '?').join(', ')})
     ON CONFLICT (network_id, id) DO UPDATE SET ${recordedAssignments},
       disabled = NULL, removed_at = NULL, fresh_starts = endpoints.fresh_starts + 1
     RETURNING *`,
  )
  const removeEndpoint = database.prepare(
    `UPDATE endpoints SET removed_at = ?, key = '', secrets = '[]', old = NULL, old_until = NULL, state = NULL WHERE ref = ?`,
  )
  const drop = database.prepare(`DELETE FROM deliveries WHERE endpoint = ? AND state = 'pending'`)
  const setPosition = database.prepare(
    'INSERT INTO positions VALUES (?, ?) ON CONFLICT DO UPDATE SET position = excluded.position',
  )
  const keep = database.prepare(
    'INSERT INTO set_aside (at, reason, network_id, endpoint_id, event_id, content) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const all = database.prepare('SELECT * FROM endpoints WHERE removed_at IS NULL')
  const readAll = () => new Directory(all.all().map(endpointOf))
  let directory = readAll()

  /** Gives the ids of the events that were not there yet. */
  function insert(events: readonly Addressed[], now: number, due: number): readonly string[] {
    return events.flatMap(({ record, receivers }) => {
      const { event_id, network_id, event_type, event_timestamp, body } = record
      const bytes = Buffer.from(body)
      const subject = receivers.some(({ order }) => order === 'subject') ? subjectOfRecord(record) : (record.subject ?? null)
      const inserted = insertEvent.run(event_id, network_id, event_type, event_timestamp, now, bytes, crc32(bytes), subject)
      if (inserted.changes === 0) return []
      for (const { ref, order } of receivers) {
        if (order === 'subject') insertDelivery.run(inserted.lastInsertRowid, ref, arriving, due, subject)
        else insertDelivery.run(inserted.lastInsertRowid, ref, 0, due, null)
      }
      return [event_id]
    })
  }

  function upsert(record: EndpointUpsert): Endpoint {
    const values = recordedValues(record).map((value) => (typeof value === 'boolean' ? Number(value) : value))
    return endpointOf(upsertEndpoint.get(...values) ?? {})
  }

  function answer(step: Step, now: number, due: number): unknown {
    if (step.kind === 'events') return insert(step.events, now, due)
    if (step.kind === 'upsert') return upsert(step.record)
    removeEndpoint.run(now, step.endpoint.ref)
    return Number(drop.run(step.endpoint.ref).changes)
  }

  /** Does a step wholly or not at all, and goes on without a record that is to blame for a failure. */
  function answerAlone(step: Step, now: number, due: number): unknown {
    database.exec('SAVEPOINT step')
    try {
      const answered = answer(step, now, due)
      database.exec('RELEASE step')
      return answered
    } catch (error) {
      if (!isRecordsFault(error)) throw error
      database.exec('ROLLBACK TO step; RELEASE step')
      return new RefusedRecord(error instanceof Error ? error.message : 'unforeseen', { cause: error })
    }
  }

  function go<T>(walk: Walk<T>, answering: (step: Step) => unknown): T {
    let step = walk.next()
    while (!step.done) step = walk.next(answering(step.value) as never)
    return step.value
  }

  return {
    /**
     * Takes a reading over.
     * @param oneByOne after a failure that `isRecordsFault`: each record by itself, so that only one that is to blame is left out
     */
    take(reading: Reading, now: number, firstDelay: number, oneByOne = false): Ingested {
      const due = now + firstDelay
      const answering = oneByOne ? answerAlone : answer
      const load = { records: reading.commits.flat(), damage: reading.damage, oneByOne }
      const taken = go(takeOver(load, directory), (step) => answering(step, now, due))
      for (const { reason, network_id, endpoint_id, event_id, content } of taken.setAside)
        keep.run(now, reason, network_id, endpoint_id, event_id, content)
      for (const [stream, position] of Object.entries(reading.positions)) setPosition.run(stream, position)
      return taken
    },
    /** Makes notices into events for the host, and gives the refs of the endpoints that have something to be sent by that. */
    tell(notices: readonly Notice[], now: number): readonly number[] {
      const events = noticeEvents(notices, directory, now)
      insert(events, now, now)
      return events.flatMap(({ receivers }) => receivers.map(({ ref }) => ref))
    },
    fanOut: (event: EventRecord): number => directory.receiversOf(event).length,
    reload(): void {
      directory = readAll()
    },
  }
}
