/** The relay store for an operator: looking, resending and skipping, while a relay works on it or not. */
import type { DeliveryRow } from '../../../../lib/relay/relay-admin.ts'
import { among, given, nextVersion, type Plan, type RelayDatabase, type Rows, row, rows, type SqlValue } from '../database.ts'
import { endpointOf } from '../endpoint/endpoint-row.ts'
import type { Endpoint } from '../endpoint/relay-endpoint.ts'
import { hoursOf } from '../hours.ts'
import type { Notice } from '../notice.ts'
import { keepNotices } from '../plans/kept.ts'
import { blocked, iso, namesIn, number, numberOrNull, text, textOrNull, unsorted } from '../rows.ts'
import { allEndpoints, endpointsStatus, networkStatus } from './endpoint-status.ts'
import type { DeliverySearch, Due, EngineStatus, OperatorStore } from './operator-store.ts'
import { deliveryOf } from './searches.ts'
import { slotsOf } from './slots.ts'
import { counted, walk } from './walks.ts'

const ordered = (column: string) =>
  `CASE (SELECT p."order" FROM $schema.endpoints p WHERE p.ref = endpoint) WHEN 'subject' THEN ${column}`

/** Where a delivery stands that is due again: it is in order only when the relay that sends has put it there. */
const laneAgain = `lane = ${ordered(String(unsorted))} ELSE 0 END,
  subject = ${ordered(`coalesce((SELECT e.subject FROM $schema.events e WHERE e.seq = event), '')`)} END`

export function operatorStore(database: RelayDatabase, status: EngineStatus): OperatorStore {
  const query = (sql: string, values?: readonly SqlValue[]): Promise<Rows> => database.read(() => rows(sql, values))
  return {
    ...status,
    endpoints: () => database.read(() => endpointsStatus(database)),
    endpointsOf: (network) => database.read(() => networkStatus(database, network)),
    knownEndpoints: async () => (await query(allEndpoints)).map(endpointOf),
    deliveries: (search) => newestOf(database, search),
    async hasEventType(type) {
      const found = await query('SELECT 1 FROM $schema.events WHERE event_type = ?1 LIMIT 1', [type])
      return found.length > 0
    },
    async attempts(delivery) {
      const found = await query('SELECT * FROM $schema.attempts WHERE delivery = ?1 ORDER BY at, number', [delivery])
      return found.map((each) => ({
        number: number(each, 'number'),
        at: iso(number(each, 'at')) ?? '',
        outcome: text(each, 'outcome'),
        status: numberOrNull(each, 'status'),
        milliseconds: number(each, 'milliseconds'),
        answer: textOrNull(each, 'answer'),
        answer_headers: textOrNull(each, 'answer_headers'),
        reason: textOrNull(each, 'reason'),
      }))
    },
    async content(delivery) {
      const sql = 'SELECT e.body, e.changed FROM $schema.deliveries d JOIN $schema.events e ON e.seq = d.event WHERE d.id = ?1'
      const [found] = await query(sql, [delivery])
      const body = found?.['body'] ?? null
      if (!found || body === null) return null
      const whole = body instanceof Uint8Array ? new TextDecoder().decode(body) : String(body)
      return { body: whole, changed: namesIn(textOrNull(found, 'changed')) }
    },
    async *walk(search, order, limit) {
      for await (const { value, ...step } of walk(database, search, order, limit)) yield { ...step, found: value.map(deliveryOf) }
    },
    async *counts(search) {
      for await (const { value } of counted(database, search)) yield value
    },
    end: async () => number((await query('SELECT coalesce(max(id), 0) + 1 AS n FROM $schema.deliveries'))[0] ?? {}, 'n'),
    slots: (network, since, length, newest) => database.read(() => slotsOf(database, network, since, length, newest)),
    hours: (network, since) => database.read(() => hoursOf(network, since)),
    makeDue: (deliveries) => database.transaction(() => makeDue(database, deliveries), true),
    async notices(limit) {
      const found = await query('SELECT * FROM $schema.notices ORDER BY seq DESC LIMIT ?1', [limit])
      return found.map((each) => ({
        at: iso(number(each, 'at')) ?? '',
        kind: text(each, 'kind'),
        network_id: textOrNull(each, 'network_id'),
        endpoint_id: textOrNull(each, 'endpoint_id'),
        event_id: textOrNull(each, 'event_id'),
        text: text(each, 'text'),
      }))
    },
    skip: (endpoint, filter, limit, now) => skip(database, endpoint, { search: filter, limit }, now),
    resetEndpoint: (ref, now, notice) =>
      database.transaction(function* () {
        yield* resetEndpoint(database, ref, false)
        yield* keepNotices(database, notice ? [notice] : [], now)
      }, true),
    enable: (ref) => database.transaction(() => resetEndpoint(database, ref, true), true),
    disable: (ref, reason) => database.transaction(() => disable(database, ref, reason), true),
    deliver: (endpoint, record, now) =>
      database.transaction(function* () {
        const version = yield* nextVersion()
        yield* database.insertEvents([{ record, receivers: [endpoint] }], now, now)
        yield* database.touch([endpoint.ref], version)
      }, true),
    close: () => database.close(),
  }
}

const endpointsOf = (deliveries: Rows): readonly number[] => [...new Set(deliveries.map((each) => number(each, 'endpoint')))]

async function newestOf(
  database: RelayDatabase,
  { limit, ...search }: DeliverySearch & { readonly limit: number },
): Promise<readonly DeliveryRow[]> {
  const found: DeliveryRow[] = []
  for await (const { value } of walk(database, search, 'DESC', limit)) {
    found.push(...value.map(deliveryOf))
    if (found.length >= limit) break
  }
  return found.slice(0, limit)
}

/**
 * Deliveries that are done get all their attempts again; pending ones are due sooner.
 * @returns those that were not due before
 */
function* makeDue(database: RelayDatabase, deliveries: readonly Due[]): Plan<readonly number[]> {
  const version = yield* nextVersion()
  const again = yield* rows(
    `UPDATE $schema.deliveries AS d SET state = 'pending', due = g.due, interruptions = 0, ${laneAgain},
       attempts = CASE d.state WHEN 'pending' THEN d.attempts ELSE 0 END
     FROM ${given(database, '?1', { delivery: 'bigint', due: 'bigint' })} AS g
     WHERE d.id = g.delivery AND (d.state <> 'pending' OR d.due > g.due)
     RETURNING id, endpoint`,
    [JSON.stringify(deliveries.map(({ delivery, due }) => [delivery, due]))],
  )
  yield* database.touch(endpointsOf(again), version)
  return again.map((each) => number(each, 'id'))
}

/** Skips the waiting ones of these deliveries, with a notice, and returns their number. */
function* skipSome(
  database: RelayDatabase,
  deliveries: readonly number[],
  now: number,
  noticeOf: (count: number) => Notice,
): Plan<number> {
  const version = yield* nextVersion()
  // A relay that puts deliveries in order at this moment would still take these for the first ones of their subjects.
  yield* database.holdRelays()
  const skipped = yield* rows(
    `UPDATE $schema.deliveries SET state = 'skipped', at = ?2, outcome = 'skipped' WHERE ${among(database, 'id', '?1')}
       AND state = 'pending' RETURNING endpoint, subject, event`,
    [database.dialect.list(deliveries), now],
  )
  if (skipped.length === 0) return 0
  const ordered = skipped.filter((each) => each['subject'] != null)
  // The relay that sends finds out whether these are the first ones of their subjects now.
  yield* rows(
    `UPDATE $schema.deliveries SET lane = ${unsorted} WHERE lane = ${blocked} AND state = 'pending' AND id IN (
       SELECT (SELECT d.id FROM $schema.deliveries d WHERE d.endpoint = g.endpoint AND d.subject = g.subject AND d.state = 'pending'
         AND d.event > g.event ORDER BY d.event LIMIT 1)
       FROM ${given(database, '?1', { endpoint: 'bigint', subject: 'text', event: 'bigint' })} AS g)`,
    [JSON.stringify(ordered.map((each) => [number(each, 'endpoint'), text(each, 'subject'), number(each, 'event')]))],
  )
  yield* database.touch(endpointsOf(skipped), version)
  yield* keepNotices(database, [noticeOf(skipped.length)], now)
  return skipped.length
}

/** Deliveries that are skipped in one transaction. */
const most = 1000

async function skip(
  database: RelayDatabase,
  { network_id, id }: Endpoint,
  { search, limit }: { readonly search: DeliverySearch; readonly limit: number },
  now: number,
): Promise<number> {
  const noticeOf = (count: number): Notice => ({
    kind: 'operator.skipped',
    network_id,
    endpoint_id: id,
    event_id: null,
    text: `an operator skipped ${count} waiting ${count === 1 ? 'delivery' : 'deliveries'}`,
  })
  let [skipped, left] = [0, limit]
  for await (const { value } of walk(database, { ...search, state: 'pending', endpoint_id: id, network_id }, 'ASC')) {
    const deliveries = value.slice(0, left).map((each) => number(each, 'id'))
    left -= deliveries.length
    for (let place = 0; place < deliveries.length; place += most) {
      const some = deliveries.slice(place, place + most)
      skipped += await database.transaction(() => skipSome(database, some, now, noticeOf), true)
    }
    if (left === 0) break
  }
  return skipped
}

/**
 * Resets an endpoint; the relay that sends to it is notified.
 * @param enable lifts also that the relay disabled it
 */
const resetEndpoint = (database: RelayDatabase, ref: number, enable: boolean): Plan<void> =>
  define(database, ref, `fresh_starts = fresh_starts + 1${enable ? ', disabled = NULL' : ''}`, [])

/** Sends nothing more to an endpoint, until `resetEndpoint` enables it or its definition changes. A reason that is there stays. */
const disable = (database: RelayDatabase, ref: number, reason: string): Plan<void> =>
  define(database, ref, 'disabled = coalesce(disabled, ?3)', [reason])

function* define(database: RelayDatabase, ref: number, change: string, values: readonly string[]): Plan<void> {
  const version = yield* nextVersion()
  const sql = `UPDATE $schema.endpoints SET ${change}, defined = ?2 WHERE ref = ?1 AND removed_at IS NULL`
  yield* row(sql, [ref, version, ...values])
  yield* database.touch([ref], version)
}
