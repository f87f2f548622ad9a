/**
 * Ingests records of the outbox: writes endpoints, and each event with a delivery for each endpoint that it goes to.
 *
 * One relay at a time does so. So deliveries are numbered in the order of ingest, every later event finds its endpoint, and
 * changes are found by version.
 */
import { checkRecords, refused, type Unusable } from '../../../../lib/outbox/check.ts'
import type { EndpointRemoval, EndpointUpsert, ErasureRecord, EventRecord, OutboxRecord } from '../../../../lib/outbox/record.ts'
import { unsupportedCapabilities } from '../../../../lib/outbox/requires.ts'
import { type Damage, damageText } from '../../../../lib/outbox/source.ts'
import { nextVersion, type Plan, type RelayDatabase, row, rows } from '../database.ts'
import { type Addressed, EndpointIndex } from '../endpoint/endpoint-index.ts'
import { endpointColumns, endpointOf, recordedAssignments, recordedColumns, recordedValues } from '../endpoint/endpoint-row.ts'
import type { Endpoint } from '../endpoint/relay-endpoint.ts'
import type { Notice } from '../notice.ts'
import { number, numberOrNull } from '../rows.ts'
import type { Ingested, QuarantinedRecord, Recorded, Tick } from '../store.ts'
import { decide } from './decide.ts'
import { keepErasure } from './erasures.ts'
import { keepNotices, keepQuarantined } from './kept.ts'
import { noticeEvents } from './notices.ts'

/** Deliveries of a removed endpoint that one statement drops: far from the time-out of a statement. */
const droppedAtOnce = 10_000

export interface Load {
  readonly records: readonly OutboxRecord[]
  readonly damage: readonly Damage[]
}

export interface Ingester {
  /** Loads which endpoints there are. */
  load(): Plan<void>
  /**
   * Takes over the endpoints that a relay of an earlier version did not understand, and sets those aside that this one does not. Before
   * the relay sends anything.
   */
  updateSupport(now: number): Plan<void>
  /** The version up to which they are known. */
  readonly known: number
  /** The events that go to endpoints, as far as these are known. */
  addressed(events: readonly EventRecord[]): readonly Addressed[]
  /**
   * Ingests records in their order.
   * @param oneByOne after an error that is a record's fault: each record by itself, so that only those to blame are set aside
   */
  ingest(load: Load, now: number, due: number, oneByOne: boolean): Plan<Ingested & { readonly version: number }>
  /**
   * Keeps notices, and makes events for the host of them.
   * @param disable the endpoints that are disabled with them, unless they were reset in between
   */
  notify(notices: readonly Notice[], now: number, disable?: Tick['disable']): Plan<Recorded>
  /** How many endpoints an event goes to, as far as is known. */
  fanOut(event: EventRecord): number
  /** Forgets what was read in a transaction that was rolled back. */
  forget(): void
}

export function createIngester(database: RelayDatabase): Ingester {
  let index = new EndpointIndex()
  /** The version up to which the index goes. */
  let known = -1

  function* load(): Plan<void> {
    const [before, from] = [index, known]
    const found = yield* rows(`SELECT ${endpointColumns} FROM $schema.endpoints WHERE defined > ?1`, [from])
    // Others load it too, where no transaction holds the version; or what was read is forgotten by now.
    if (index !== before || known !== from) return yield* load()
    for (const each of found) {
      const endpoint = endpointOf(each)
      if (numberOrNull(each, 'removed_at') === null) index.set(endpoint)
      else index.delete(endpoint)
      known = Math.max(known, number(each, 'defined'))
    }
  }

  function* updateSupport(now: number): Plan<void> {
    const found = yield* rows(
      `SELECT ${endpointColumns} FROM $schema.endpoints WHERE requires IS NOT NULL AND removed_at IS NULL`,
    )
    const endpoints = found.map(endpointOf)
    const unsupported = endpoints.filter(
      ({ requires, set_aside }) => unsupportedCapabilities(requires).length > 0 && set_aside === null,
    )
    const supported = endpoints.filter(
      ({ requires, set_aside }) => unsupportedCapabilities(requires).length === 0 && set_aside !== null,
    )
    if (unsupported.length + supported.length === 0) return
    const version = yield* nextVersion()
    for (const { ref } of unsupported) yield* rows(markUnsupported, [ref, JSON.stringify({ since: now }), version])
    for (const { ref, set_aside } of supported) {
      const [record] = checkRecords(set_aside?.record === undefined ? [] : [set_aside.record]).records
      if (record?.kind === 'endpoint' && record.action === 'upsert')
        yield* rows(redefining, [...recordedValues(record, now), version])
      // What cannot be used is still no reason to send as if it were not there.
      else if (set_aside?.record === undefined) yield* rows(markUnsupported, [ref, null, version])
      yield* database.defined(ref, version)
      const current = yield* row(`SELECT ${endpointColumns} FROM $schema.endpoints WHERE ref = ?1`, [ref])
      if (current) yield* decideSince(set_aside, endpointOf(current))
    }
  }

  /** Events that were ingested while the filter was unknown are decided by it now. */
  function* decideSince(before: Endpoint['set_aside'] | undefined, { ref, filter, set_aside }: Endpoint): Plan<void> {
    if (before && filter && set_aside === null) yield* decide(database, ref, filter, before.since)
  }

  function* upsert(record: EndpointUpsert, now: number, version: number): Plan<Endpoint> {
    const before = index.get(record.network_id, record.id)?.set_aside
    const written = yield* row(upserting, [...recordedValues(record, now), version])
    const endpoint = endpointOf(written ?? {})
    yield* decideSince(before, endpoint)
    yield* database.defined(endpoint.ref, version)
    return endpoint
  }

  /** @returns how many waiting deliveries were dropped */
  function* remove({ ref }: Endpoint, now: number, version: number): Plan<number> {
    yield* rows(removing, [ref, now, version])
    yield* database.removed(ref, version)
    for (let dropped = 0; ; ) {
      const some = yield* rows(dropping, [ref])
      dropped += some.length
      if (some.length < droppedAtOnce) return dropped
    }
  }

  function* notify(given: readonly Notice[], now: number, disable: Tick['disable'] = new Map()): Plan<Recorded> {
    if (given.length === 0) return { refs: [], notices: [] }
    const version = yield* nextVersion()
    yield* load()
    const notices = given.filter(({ kind, network_id, endpoint_id }) => {
      const endpoint = index.get(network_id, endpoint_id)
      return kind !== 'endpoint.disabled' || (endpoint && disable.get(endpoint.ref)?.fresh_starts === endpoint.fresh_starts)
    })
    const events = noticeEvents(notices, index, now)
    if (events.length > 0) yield* database.insertEvents(events, now, now)
    const refs = events.flatMap(({ receivers }) => receivers.map(({ ref }) => ref))
    yield* database.touch(refs, version)
    yield* keepNotices(database, notices, now)
    return { refs, notices }
  }

  function* ingest(
    { records, damage }: Load,
    now: number,
    due: number,
    oneByOne: boolean,
  ): Plan<Ingested & { readonly version: number }> {
    const version = yield* nextVersion()
    yield* load()
    const deliveries = new Map<number, number>()
    const changed = new Map<number, Endpoint>()
    const removed = new Map<number, Endpoint>()
    const notices: Notice[] = []
    const quarantined: QuarantinedRecord[] = []
    let events = 0
    let duplicates = 0
    /** Events that go together: no endpoint changes between them. */
    let batch: Addressed[] = []

    function passOver({ reason, network_id = null, endpoint_id = null, event_id = null }: Passed, content?: string): void {
      notices.push({ kind: 'outbox.damaged', network_id, endpoint_id, event_id, text: reason })
      if (content !== undefined) quarantined.push({ reason, network_id, endpoint_id, event_id, content })
    }

    /**
     * Does a step wholly or not at all.
     * @returns `undefined` if its record is to blame, which is set aside then
     */
    function* attempt<T>(record: OutboxRecord, step: () => Plan<T>): Plan<T | undefined> {
      if (!oneByOne) return yield* step()
      yield* rows('SAVEPOINT step')
      try {
        const value = yield* step()
        yield* rows('RELEASE SAVEPOINT step')
        return value
      } catch (error) {
        if (!database.isRecordsFault(error)) throw error
        yield* rows('ROLLBACK TO SAVEPOINT step')
        yield* rows('RELEASE SAVEPOINT step')
        passOver(refused(record, error instanceof Error ? error.message : 'unforeseen'), written(record))
        return undefined
      }
    }

    function* insertBatch(): Plan<void> {
      const [first] = batch
      if (!first) return
      const together = batch
      batch = []
      const inserted = yield* attempt(first.record, () => database.insertEvents(together, now, due))
      if (!inserted) return
      duplicates += countDeliveries(together, new Set(inserted), deliveries)
    }

    function* ingestEvent(record: EventRecord): Plan<void> {
      const receivers = index.receiversOf(record)
      events++
      if (receivers.length > 0) batch.push({ record, receivers })
      if (oneByOne) yield* insertBatch()
    }

    function* ingestUpsert(record: EndpointUpsert): Plan<void> {
      yield* insertBatch()
      const endpoint = yield* attempt(record, () => upsert(record, now, version))
      if (!endpoint) return
      index.set(endpoint)
      changed.set(endpoint.ref, endpoint)
      removed.delete(endpoint.ref)
    }

    function* ingestRemoval(record: EndpointRemoval): Plan<void> {
      yield* insertBatch()
      const endpoint = index.get(record.network_id, record.id)
      if (!endpoint) return
      const dropped = yield* attempt(record, () => remove(endpoint, now, version))
      if (dropped === undefined) return
      index.delete(record)
      removed.set(endpoint.ref, endpoint)
      changed.delete(endpoint.ref)
      deliveries.delete(endpoint.ref)
      const whose = dropped === 1 ? 'delivery was' : 'deliveries were'
      const text = `the endpoint was removed; ${dropped} waiting ${whose} dropped`
      const { network_id, id } = endpoint
      notices.push({ kind: 'endpoint.removed', network_id, endpoint_id: id, event_id: null, text })
    }

    function* ingestErasure(record: ErasureRecord): Plan<void> {
      yield* insertBatch()
      yield* attempt(record, () => keepErasure(record, now))
    }

    for (const record of records) {
      if (record.kind === 'event') yield* ingestEvent(record)
      else if (record.kind === 'erasure') yield* ingestErasure(record)
      else if (record.action === 'upsert') yield* ingestUpsert(record)
      else yield* ingestRemoval(record)
    }
    yield* insertBatch()
    if (changed.size + removed.size > 0) known = version
    for (const each of damage) passOver({ ...each, reason: damageText(each) }, each.content)
    yield* database.touch([...deliveries.keys()], version)
    yield* keepQuarantined(database, quarantined, now)
    yield* keepNotices(database, notices, now)
    return {
      ...{ events, duplicates, deliveries, notices, quarantined, version },
      changed: [...changed.values()],
      removed: [...removed.values()],
    }
  }

  return {
    load,
    updateSupport,
    get known() {
      return known
    },
    addressed: (events) =>
      events.map((record) => ({ record, receivers: index.receiversOf(record) })).filter(({ receivers }) => receivers.length > 0),
    ingest,
    notify,
    fanOut: (event) => index.receiversOf(event).length,
    forget() {
      index = new EndpointIndex()
      known = -1
    },
  }
}

/**
 * Counts deliveries of events, by endpoint.
 * @param fresh the ids of those that were inserted; it is emptied
 * @returns how many had been ingested before. An event that stands twice among them was inserted once.
 */
export function countDeliveries(events: readonly Addressed[], fresh: Set<string>, deliveries: Map<number, number>): number {
  let duplicates = 0
  for (const { record, receivers } of events) {
    if (!fresh.delete(record.event_id)) duplicates++
    else for (const { ref } of receivers) deliveries.set(ref, (deliveries.get(ref) ?? 0) + 1)
  }
  return duplicates
}

const places = [...recordedColumns, 'defined'].map((_, place) => `?${place + 1}`)
const upserting = `INSERT INTO $schema.endpoints (${recordedColumns.join(', ')}, defined) VALUES (${places.join(', ')})
  ON CONFLICT (network_id, id) DO UPDATE SET ${recordedAssignments}, defined = excluded.defined, disabled = NULL, removed_at = NULL,
    fresh_starts = endpoints.fresh_starts + 1
  RETURNING ${endpointColumns}`
const redefining = `INSERT INTO $schema.endpoints (${recordedColumns.join(', ')}, defined) VALUES (${places.join(', ')})
  ON CONFLICT (network_id, id) DO UPDATE SET ${recordedAssignments}, defined = excluded.defined`
const markUnsupported = 'UPDATE $schema.endpoints SET set_aside = ?2, defined = ?3 WHERE ref = ?1'
const removing = `UPDATE $schema.endpoints SET removed_at = ?2, key = '', secrets = '[]', headers = NULL, old = NULL, old_until = NULL, set_aside = NULL, state = NULL,
  defined = ?3 WHERE ref = ?1`
const dropping = `DELETE FROM $schema.deliveries WHERE id IN (
  SELECT id FROM $schema.deliveries WHERE endpoint = ?1 AND state = 'pending' LIMIT ${droppedAtOnce}) RETURNING id`

type Passed = Pick<Unusable, 'reason'> & Partial<Unusable>

/** A record as text. Unknown fields may be nested deeper than can be written. */
function written(record: OutboxRecord): string {
  try {
    return JSON.stringify(record)
  } catch {
    return ''
  }
}
