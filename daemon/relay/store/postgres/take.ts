/**
 * Takes commits of the outbox table over into the relays' tables, in one transaction that removes them from the outbox.
 *
 * One relay at a time does so: it holds the row `version`. So deliveries are numbered in the order in which their events were
 * ingested, an endpoint is known to all events after it, and whatever has changed can be found by its version: the count of
 * all takings and replays, given in the order of their commits.
 */

import { claimOutbox } from '../../../../adapters/storage/postgres/outbox.ts'
import { crc32 } from '../../../../lib/base/crc32.ts'
import type { EndpointUpsert } from '../../../../lib/outbox/record.ts'
import { endpointColumns, endpointOf, recordedAssignments, recordedColumns, recordedValues } from '../endpoint-row.ts'
import { arriving, number, numberOrNull, text } from '../rows.ts'
import type { Endpoint, Ingested, Notice, SetAside } from '../store.ts'
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
import { type Database, durable, type Session } from './database.ts'
import { isRecordsFault } from './errors.ts'

/** Commits ingested at once. */
const commitsAtOnce = 500
/** Deliveries of a removed endpoint that are dropped by one statement. */
const droppedAtOnce = 10_000

export interface Taking {
  readonly taken: Ingested
  readonly version: number
  readonly more: boolean
}

export interface Taker {
  /** Takes some commits over. `undefined` when there are none, or when another relay is at it. */
  take(now: number, firstDelay: number): Promise<Taking | undefined>
  /** How many commits stand in the outbox; at most so many are counted. */
  waiting(most: number): Promise<number>
  /**
   * Makes notices into events for the host, inside a transaction.
   * @returns the refs of the endpoints that have something to be sent by that
   */
  tell(session: Session, notices: readonly Notice[], now: number): Promise<readonly number[]>
}

/** Holds the versions until the transaction ends, and gives the next one. */
export async function nextVersion(session: Session): Promise<number> {
  const [row = {}] = await session.rows(`UPDATE $schema.meta SET value = value + 1 WHERE name = 'version' RETURNING value`)
  return number(row, 'value')
}

/** Says that something waits for these endpoints, or that they are defined anew. The versions are held. */
export async function touch(session: Session, endpoints: readonly number[], version: number): Promise<void> {
  if (endpoints.length > 0)
    await session.rows('UPDATE $schema.leases SET touched = $2 WHERE endpoint = ANY($1::bigint[])', [endpoints, version])
}

export function createTaker(database: Database): Taker {
  let directory = new Directory()
  /** How far `directory` goes. */
  let known = -1

  /** Learns what other relays have ingested. The versions are held. */
  async function follow(session: Session): Promise<void> {
    const rows = await session.rows(`SELECT ${endpointColumns} FROM $schema.endpoints WHERE defined > $1`, [known])
    for (const row of rows) {
      const endpoint = endpointOf(row)
      if (numberOrNull(row, 'removed_at') === null) directory.set(endpoint)
      else directory.delete(endpoint)
      known = Math.max(known, number(row, 'defined'))
    }
  }

  /** Gives the ids of the events that were not there yet. */
  async function insert(session: Session, events: readonly Addressed[], now: number, due: number): Promise<readonly string[]> {
    const addressed = events.flatMap(({ record, receivers }) =>
      receivers.map(({ ref, order }) => [record.event_id, ref, order === 'subject'] as const),
    )
    const column = (name: 'event_id' | 'network_id' | 'event_type' | 'event_timestamp' | 'body') =>
      events.map(({ record }) => record[name])
    const rows = await session.rows(
      `WITH given AS (
         SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $10::bigint[], $11::text[])
           WITH ORDINALITY AS g (event_id, network_id, event_type, event_timestamp, body, crc, subject, place)),
       fresh AS (
         INSERT INTO $schema.events (event_id, network_id, event_type, event_timestamp, taken, body, crc, subject)
         SELECT event_id, network_id, event_type, event_timestamp, $6::bigint, body, crc, subject FROM given ORDER BY place
         ON CONFLICT (event_id) DO NOTHING RETURNING seq, event_id, subject),
       sent AS (
         INSERT INTO $schema.deliveries (event, endpoint, state, lane, due, subject)
         SELECT fresh.seq, a.endpoint, 'pending', CASE WHEN a.ordered THEN ${arriving} ELSE 0 END, $7::bigint,
           CASE WHEN a.ordered THEN coalesce(fresh.subject, '') END
         FROM (SELECT DISTINCT * FROM unnest($8::text[], $9::bigint[], $12::boolean[]) AS a (event_id, endpoint, ordered)) a JOIN fresh USING (event_id)
         ORDER BY fresh.seq, a.endpoint)
       SELECT event_id FROM fresh`,
      [
        ...[column('event_id'), column('network_id'), column('event_type'), column('event_timestamp'), column('body'), now, due],
        ...[addressed.map(([event_id]) => event_id), addressed.map(([, ref]) => ref)],
        events.map(({ record }) => crc32(Buffer.from(record.body))),
        events.map(({ record, receivers }) =>
          receivers.some(({ order }) => order === 'subject') ? subjectOfRecord(record) : (record.subject ?? null),
        ),
        addressed.map(([, , ordered]) => ordered),
      ],
    )
    return rows.map((row) => text(row, 'event_id'))
  }

  async function upsert(session: Session, record: EndpointUpsert, version: number): Promise<Endpoint> {
    const places = [...recordedColumns, 'defined'].map((_, place) => `$${place + 1}`)
    const [row = {}] = await session.rows(
      `INSERT INTO $schema.endpoints (${recordedColumns.join(', ')}, defined) VALUES (${places.join(', ')})
       ON CONFLICT (network_id, id) DO UPDATE SET ${recordedAssignments}, defined = excluded.defined,
         disabled = NULL, removed_at = NULL, fresh_starts = $schema.endpoints.fresh_starts + 1
       RETURNING ${endpointColumns}`,
      [...recordedValues(record), version],
    )
    const endpoint = endpointOf(row)
    await session.rows(
      `INSERT INTO $schema.leases (endpoint, touched) VALUES ($1, $2)
       ON CONFLICT (endpoint) DO UPDATE SET touched = excluded.touched`,
      [endpoint.ref, version],
    )
    return endpoint
  }

  async function remove(session: Session, { ref }: Endpoint, now: number, version: number): Promise<number> {
    await session.rows(
      `UPDATE $schema.endpoints SET removed_at = $2, key = '', secrets = '[]', old = NULL, old_until = NULL, state = NULL, defined = $3 WHERE ref = $1`,
      [ref, now, version],
    )
    await session.rows('DELETE FROM $schema.leases WHERE endpoint = $1 AND relay IS NULL', [ref])
    await touch(session, [ref], version)
    for (let dropped = 0; ; ) {
      // In parts, each far from the time-out of a statement.
      const [row = {}] = await session.rows(
        `WITH dropped AS (
           DELETE FROM $schema.deliveries WHERE id IN (
             SELECT id FROM $schema.deliveries WHERE endpoint = $1 AND state = 'pending' LIMIT ${droppedAtOnce}) RETURNING 1)
         SELECT count(*) AS n FROM dropped`,
        [ref],
      )
      dropped += number(row, 'n')
      if (number(row, 'n') < droppedAtOnce) return dropped
    }
  }

  async function go<T>(walk: Walk<T>, answering: (step: Step) => Promise<unknown>): Promise<T> {
    let step = walk.next()
    while (!step.done) step = walk.next((await answering(step.value)) as never)
    return step.value
  }

  async function takeIn(session: Session, now: number, firstDelay: number, oneByOne: boolean): Promise<Taking | undefined> {
    const [free] = await session.rows(`SELECT value FROM $schema.meta WHERE name = 'version' FOR UPDATE SKIP LOCKED`)
    if (!free) return undefined
    const { commits, damage } = await claimOutbox(session.client, commitsAtOnce, database.schema)
    if (commits.length === 0) return undefined
    await durable(session)
    await follow(session)
    const version = await nextVersion(session)
    const answer = (step: Step): Promise<unknown> => {
      if (step.kind === 'events') return insert(session, step.events, now, now + firstDelay)
      if (step.kind === 'upsert') return upsert(session, step.record, version)
      return remove(session, step.endpoint, now, version)
    }
    const load = { records: commits.flat(), damage, oneByOne }
    const taken = await go(takeOver(load, directory), oneByOne ? (step) => alone(session, () => answer(step)) : answer)
    await touch(session, [...taken.deliveries.keys()], version)
    if (taken.changed.length + taken.removed.length > 0) known = version
    await writeNotices(session, taken.notices, now)
    await keepAside(session, taken.setAside, now)
    return { taken, version, more: commits.length >= commitsAtOnce }
  }

  /** What was learned in a transaction that is undone may not be so. */
  function forgetAnd(error: unknown): never {
    directory = new Directory()
    known = -1
    throw error
  }

  return {
    async waiting(most) {
      const some = `SELECT 1 FROM "${database.schema}"."outbox" LIMIT $1`
      const [row = {}] = await database.rows(`SELECT count(*) AS count FROM (${some}) AS some`, [most])
      return number(row, 'count')
    },
    async take(now, firstDelay) {
      const [waiting] = await database.rows(`SELECT 1 FROM "${database.schema}"."outbox" ORDER BY "seq" LIMIT 1`)
      if (!waiting) return undefined
      const take = (oneByOne: boolean) =>
        database.transaction((session) => takeIn(session, now, firstDelay, oneByOne).catch(forgetAnd)).catch(forgetAnd)
      return take(false).catch((error: unknown) => {
        if (isRecordsFault(error)) return take(true)
        throw error
      })
    },
    async tell(session, notices, now) {
      if (notices.length === 0) return []
      const version = await nextVersion(session)
      await follow(session)
      const events = noticeEvents(notices, directory, now)
      if (events.length > 0) await insert(session, events, now, now)
      const told = events.flatMap(({ receivers }) => receivers.map(({ ref }) => ref))
      await touch(session, told, version)
      await writeNotices(session, notices, now)
      return told
    },
  }
}

/** Does a step wholly or not at all, and goes on without a record that is to blame for a failure. */
async function alone(session: Session, work: () => Promise<unknown>): Promise<unknown> {
  await session.rows('SAVEPOINT step')
  try {
    const answered = await work()
    await session.rows('RELEASE SAVEPOINT step')
    return answered
  } catch (error) {
    if (!isRecordsFault(error)) throw error
    await session.rows('ROLLBACK TO SAVEPOINT step')
    return new RefusedRecord(error instanceof Error ? error.message : 'unforeseen', { cause: error })
  }
}

async function keepAside(session: Session, pieces: readonly SetAside[], now: number): Promise<void> {
  if (pieces.length === 0) return
  const column = (name: keyof SetAside) => pieces.map((piece) => piece[name])
  await session.rows(
    `INSERT INTO $schema.set_aside (at, reason, network_id, endpoint_id, event_id, content)
     SELECT $1::bigint, * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[])`,
    [now, column('reason'), column('network_id'), column('endpoint_id'), column('event_id'), column('content')],
  )
}

/** Gives an endpoint a fresh start; the relay that has it learns of it. */
export async function startAfresh(session: Session, ref: number, enable: boolean): Promise<Endpoint | undefined> {
  await durable(session)
  const version = await nextVersion(session)
  const [row] = await session.rows(
    `UPDATE $schema.endpoints SET fresh_starts = fresh_starts + 1, defined = $2,
       disabled = CASE WHEN $3::boolean THEN NULL ELSE disabled END
     WHERE ref = $1 AND removed_at IS NULL RETURNING ${endpointColumns}`,
    [ref, version, enable],
  )
  await touch(session, [ref], version)
  return row && endpointOf(row)
}

export async function writeNotices(session: Session, notices: readonly Notice[], now: number): Promise<void> {
  if (notices.length === 0) return
  const column = (name: 'kind' | 'network_id' | 'endpoint_id' | 'event_id' | 'text') => notices.map((notice) => notice[name])
  await session.rows(
    `INSERT INTO $schema.notices (at, kind, network_id, endpoint_id, event_id, text)
     SELECT $1::bigint, * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[])`,
    [now, column('kind'), column('network_id'), column('endpoint_id'), column('event_id'), column('text')],
  )
}
