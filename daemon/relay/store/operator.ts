/** The relay store for an operator: looking, replaying and skipping, while a relay works on it or not. */
import type { Positions } from '../../../lib/outbox/source.ts'
import { among, given, nextVersion, type Plan, type RelayDatabase, type Rows, row, rows, type SqlValue } from './database.ts'
import type { Endpoint } from './endpoint.ts'
import { endpointColumns, endpointOf } from './endpoint-row.ts'
import { keepNotices } from './notices.ts'
import { arriving, behind, isOpen, number, numberOrNull, type SqlRow, storedEndpointOf, text, textOrNull } from './rows.ts'
import type { DeliveryState, Notice } from './store.ts'

/** One endpoint for a person: no key, no secret, and of its URL the origin only. */
export interface EndpointStatus {
  readonly endpoint_id: string
  readonly network_id: string
  readonly name: string | null
  readonly origin: string
  /** Enough of its path to tell endpoints of one origin apart: the end of it. A path may be a secret. */
  readonly path: string
  readonly state: 'active' | 'off' | 'disabled'
  /** Why the relay stopped sending to it. */
  readonly disabled: string | null
  readonly circuit: 'closed' | 'open'
  readonly pending: number
  readonly dead: number
  readonly last_success_at: string | null
  readonly failing_since: string | null
  /** When the oldest event that waits for it was ingested. */
  readonly oldest_pending_at: string | null
  /** When something is sent to it next: when that is due, and not before the next probe of an open circuit. */
  readonly next_attempt_at: string | null
  /** When an open circuit lets a probe through, at the latest. */
  readonly next_probe_at: string | null
  /** Why the latest attempt failed; null once one was delivered. */
  readonly last_error: string | null
  /** Why its key and secrets cannot be decrypted, and nothing is sent to it. */
  readonly unreadable: string | null
}

export interface DeliveryStatus {
  readonly delivery: number
  readonly state: DeliveryState
  readonly network_id: string
  readonly endpoint_id: string
  readonly event_id: string
  readonly event_type: string
  readonly event_timestamp: string
  readonly attempts: number
  readonly last_attempt_at: string | null
  readonly last_outcome: string | null
  readonly last_status: number | null
  readonly milliseconds: number | null
  /** For a pending one. */
  readonly next_attempt_at: string | null
}

export interface AttemptStatus {
  readonly number: number
  readonly at: string
  readonly outcome: string
  readonly status: number | null
  readonly milliseconds: number
  /** The beginning of what the receiver answered, at most 2 KiB. */
  readonly answer: string | null
}

export interface NoticeStatus {
  readonly at: string
  readonly kind: string
  readonly network_id: string | null
  readonly endpoint_id: string | null
  readonly event_id: string | null
  readonly text: string
}

/** Which deliveries; every condition that is given must hold. */
export interface Selection {
  readonly state?: DeliveryState
  readonly endpoint?: string
  readonly network?: string
  readonly event?: string
  /** An event type, as on the wire. */
  readonly type?: string
  /** Ingested at or after, and before: milliseconds since 1970. */
  readonly since?: number
  readonly until?: number
  readonly limit: number
}

export interface ReplayPace {
  readonly perSecond?: number | undefined
  readonly progress?: ((replayed: number) => void) | undefined
}

/** A relay that works on the store now. */
export interface RunningRelay {
  readonly host: string
  readonly pid: number
}

export interface OperatorStore {
  relays(): Promise<readonly RunningRelay[]>
  endpoints(): Promise<readonly EndpointStatus[]>
  /** The endpoints themselves, keys and secrets included. */
  knownEndpoints(): Promise<readonly Endpoint[]>
  /** The newest first. */
  deliveries(selection: Selection): Promise<readonly DeliveryStatus[]>
  /** Whether there is an event of this type. */
  hasEventType(type: string): Promise<boolean>
  attempts(delivery: number): Promise<readonly AttemptStatus[]>
  notices(limit: number): Promise<readonly NoticeStatus[]>
  /** How many deliveries a selection has, its limit aside. */
  count(selection: Selection): Promise<number>
  /**
   * Makes deliveries due again, with all their attempts before them, and returns their number. The oldest first, in parts
   * between which running relays have their turn.
   * @param pace deliveries that become due per second (all at once without it), and the function to call after each part
   */
  replay(selection: Selection, now: number, pace?: ReplayPace): Promise<number>
  /**
   * Sets waiting deliveries of an endpoint aside, the oldest first, and returns their number; `replay` undoes it. One that is
   * in flight counts as delivered if it is delivered after all.
   */
  skip(endpoint: Endpoint, selection: Selection, now: number): Promise<number>
  /**
   * Gives an endpoint a fresh start: its circuit closes, and sending begins slowly. A running relay notices within a second.
   * @param notice what is recorded of it
   */
  startAfresh(ref: number, now: number, notice?: Notice): Promise<void>
  /** How far the streams of the outbox are ingested; empty where ingesting removes. */
  positions(): Promise<Positions>
  /** The problems that the database itself finds in the store; usually none. */
  problems(): Promise<readonly string[]>
  close(): Promise<void>
}

/** The questions that only the engine of a store can answer. */
export type EngineStatus = Pick<OperatorStore, 'relays' | 'positions' | 'problems'>

const ordered = (column: string) =>
  `CASE (SELECT p."order" FROM $schema.endpoints p WHERE p.ref = endpoint) WHEN 'subject' THEN ${column}`

/** Where a delivery stands that is due again: it is in order only when the relay that sends has put it there. */
const laneAgain = `lane = ${ordered(String(arriving))} ELSE 0 END,
  subject = ${ordered(`coalesce((SELECT e.subject FROM $schema.events e WHERE e.seq = event), '')`)} END`

interface Due {
  readonly delivery: number
  readonly due: number
}

const iso = (milliseconds: number | null): string | null => (milliseconds === null ? null : new Date(milliseconds).toISOString())

/** The store of an operator over a database. */
export function operatorStore(database: RelayDatabase, status: EngineStatus): OperatorStore {
  const query = (sql: string, values?: readonly SqlValue[]): Promise<Rows> => database.read(() => rows(sql, values))
  return {
    ...status,
    endpoints: () => database.read(endpointsStatus),
    knownEndpoints: async () => (await query(allEndpoints)).map(endpointOf),
    deliveries: async (selection) => (await database.read(() => select(selection, 'DESC'))).map(deliveryOf),
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
      }))
    },
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
    async count(selection) {
      const { sql, values } = whereOf(selection, 0)
      const [found = {}] = await query(`SELECT count(*) AS n FROM ${joined} WHERE ${sql}`, values)
      return number(found, 'n')
    },
    skip: (endpoint, selection, now) => skip(database, endpoint, selection, now),
    replay: (selection, now, pace) => replay(database, selection, now, pace),
    startAfresh: (ref, now, notice) =>
      database.transaction(function* () {
        yield* startAfresh(database, ref, false)
        yield* keepNotices(database, notice ? [notice] : [], now)
      }, true),
    close: () => database.close(),
  }
}

const allEndpoints = `SELECT ${endpointColumns} FROM $schema.endpoints WHERE removed_at IS NULL ORDER BY ref`

function* byEndpoint(sql: string): Plan<ReadonlyMap<number, SqlRow>> {
  return new Map((yield* rows(sql)).map((each) => [number(each, 'endpoint'), each]))
}

function* endpointsStatus(): Plan<readonly EndpointStatus[]> {
  // Deliveries are numbered in the order in which their events were ingested. States are written out, so that each uses
  // the index of its state: a parameter could not.
  const waiting = yield* byEndpoint(
    `SELECT w.endpoint, w.n, w.due, e.received_at
     FROM (SELECT endpoint, count(*) AS n, min(id) AS oldest, min(due) AS due FROM $schema.deliveries WHERE state = 'pending'
           GROUP BY endpoint) w
     JOIN $schema.deliveries d ON d.id = w.oldest JOIN $schema.events e ON e.seq = d.event`,
  )
  const dead = yield* byEndpoint(`SELECT endpoint, count(*) AS n FROM $schema.deliveries WHERE state = 'dead' GROUP BY endpoint`)
  // An endpoint that never failed has no state yet: its last delivery shows that.
  const delivered = yield* byEndpoint(
    `SELECT endpoint, max(at) AS at FROM (SELECT at, endpoint, state FROM $schema.deliveries ORDER BY id DESC LIMIT 1000) r
     WHERE state = 'delivered' GROUP BY endpoint`,
  )
  return (yield* rows(allEndpoints)).map((found) => {
    const { endpoint, state } = storedEndpointOf(found)
    const waits = waiting.get(endpoint.ref)
    const last = delivered.get(endpoint.ref)
    const unreadable = state?.unreadable ?? null
    const sent = endpoint.enabled && endpoint.disabled === null && unreadable === null
    const open = isOpen({ endpoint, state })
    const probe = open && sent ? (state?.breaker.readyAt ?? null) : null
    return {
      endpoint_id: endpoint.id,
      network_id: endpoint.network_id,
      name: endpoint.name,
      origin: URL.canParse(endpoint.url) ? new URL(endpoint.url).origin : 'not a URL',
      path: URL.canParse(endpoint.url) ? shortened(new URL(endpoint.url).pathname) : '',
      state: endpoint.disabled !== null ? 'disabled' : endpoint.enabled ? 'active' : 'off',
      disabled: endpoint.disabled,
      circuit: open ? 'open' : 'closed',
      pending: waits ? number(waits, 'n') : 0,
      dead: number(dead.get(endpoint.ref) ?? { n: 0 }, 'n'),
      last_success_at: iso(state?.lastSuccess ?? (last ? numberOrNull(last, 'at') : null)),
      failing_since: iso(state?.failingSince ?? null),
      oldest_pending_at: iso(waits ? number(waits, 'received_at') : null),
      next_attempt_at: iso(waits && sent ? Math.max(number(waits, 'due'), state?.pausedUntil ?? 0, probe ?? 0) : null),
      next_probe_at: iso(probe),
      last_error: state?.lastError ?? null,
      unreadable,
    }
  })
}

/** A path that is too short to be a secret, or its last characters, as on a receipt. */
const shortened = (path: string): string => (path.length <= 8 ? path : `/…${path.slice(-4)}`)

const joined = '$schema.deliveries d JOIN $schema.events e ON e.seq = d.event JOIN $schema.endpoints p ON p.ref = d.endpoint'

/** The conditions of a selection, for `joined`. */
function whereOf(selection: Selection, after: number) {
  const { state, endpoint, network, event, type, since, until } = selection
  const conditions = [
    ['d.id >', after] as const,
    ...(state === undefined ? [] : [['d.state =', state] as const]),
    ...(endpoint === undefined ? [] : [['p.id =', endpoint] as const]),
    ...(network === undefined ? [] : [['p.network_id =', network] as const]),
    ...(event === undefined ? [] : [['e.event_id =', event] as const]),
    ...(type === undefined ? [] : [['e.event_type =', type] as const]),
    ...(since === undefined ? [] : [['e.received_at >=', since] as const]),
    ...(until === undefined ? [] : [['e.received_at <', until] as const]),
  ]
  const written = conditions.map(([condition], place) => `${condition} ?${place + 1}`)
  return {
    sql: ['p.removed_at IS NULL', ...written].join(' AND '),
    values: conditions.map(([, value]) => value),
  }
}

function* select(selection: Selection, direction: 'ASC' | 'DESC', after = 0): Plan<Rows> {
  const { sql, values } = whereOf(selection, after)
  return yield* rows(
    `SELECT d.*, e.event_id, e.event_type, e.event_timestamp, p.id AS endpoint_id, p.network_id
     FROM ${joined} WHERE ${sql} ORDER BY d.id ${direction} LIMIT ?${values.length + 1}`,
    [...values, selection.limit],
  )
}

function deliveryOf(row: SqlRow): DeliveryStatus {
  const state = text(row, 'state') as DeliveryState
  return {
    delivery: number(row, 'id'),
    state,
    network_id: text(row, 'network_id'),
    endpoint_id: text(row, 'endpoint_id'),
    event_id: text(row, 'event_id'),
    event_type: text(row, 'event_type'),
    event_timestamp: text(row, 'event_timestamp'),
    attempts: number(row, 'attempts'),
    last_attempt_at: iso(numberOrNull(row, 'at')),
    last_outcome: textOrNull(row, 'outcome'),
    last_status: numberOrNull(row, 'status'),
    milliseconds: numberOrNull(row, 'milliseconds'),
    next_attempt_at: state === 'pending' ? iso(number(row, 'due')) : null,
  }
}

/** Deliveries that are made due, or skipped, in one transaction. */
const part = 1000

/** The deliveries of a selection in parts, the oldest first. */
async function* partsOf(database: RelayDatabase, selection: Selection): AsyncGenerator<Rows> {
  let after = 0
  for (let left = selection.limit; left > 0; ) {
    const some = await database.read(() => select({ ...selection, limit: Math.min(part, left) }, 'ASC', after))
    if (some.length === 0) return
    yield some
    left -= some.length
    after = Math.max(...some.map((each) => number(each, 'id')))
  }
}

const endpointsOf = (deliveries: Rows): readonly number[] => [...new Set(deliveries.map((each) => number(each, 'endpoint')))]

/** @returns how many were not due before */
function* makeDue(database: RelayDatabase, deliveries: readonly Due[]): Plan<number> {
  const version = yield* nextVersion()
  const again = yield* rows(
    `UPDATE $schema.deliveries AS d SET state = 'pending', due = g.due, attempts = 0, interruptions = 0, ${laneAgain}
     FROM ${given(database, '?1', { delivery: 'bigint', due: 'bigint' })} AS g WHERE d.id = g.delivery AND d.state <> 'pending'
     RETURNING endpoint`,
    [JSON.stringify(deliveries.map(({ delivery, due }) => [delivery, due]))],
  )
  yield* database.touch(endpointsOf(again), version)
  return again.length
}

async function replay(
  database: RelayDatabase,
  selection: Selection,
  now: number,
  { perSecond, progress }: ReplayPace = {},
): Promise<number> {
  const dueOf = (place: number): number => Math.floor(now + (perSecond === undefined ? 0 : (place / perSecond) * 1000))
  let replayed = 0
  for await (const some of partsOf(database, selection)) {
    const deliveries = some.map((each, place) => ({ delivery: number(each, 'id'), due: dueOf(replayed + place) }))
    replayed += await database.transaction(() => makeDue(database, deliveries), true)
    progress?.(replayed)
  }
  return replayed
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
    `UPDATE $schema.deliveries SET lane = ${arriving} WHERE lane = ${behind} AND state = 'pending' AND id IN (
       SELECT (SELECT d.id FROM $schema.deliveries d WHERE d.endpoint = g.endpoint AND d.subject = g.subject AND d.state = 'pending'
         AND d.event > g.event ORDER BY d.event LIMIT 1)
       FROM ${given(database, '?1', { endpoint: 'bigint', subject: 'text', event: 'bigint' })} AS g)`,
    [JSON.stringify(ordered.map((each) => [number(each, 'endpoint'), text(each, 'subject'), number(each, 'event')]))],
  )
  yield* database.touch(endpointsOf(skipped), version)
  yield* keepNotices(database, [noticeOf(skipped.length)], now)
  return skipped.length
}

async function skip(database: RelayDatabase, endpoint: Endpoint, selection: Selection, now: number): Promise<number> {
  const { network_id, id } = endpoint
  const noticeOf = (count: number): Notice => ({
    kind: 'operator.skipped',
    network_id,
    endpoint_id: id,
    event_id: null,
    text: `an operator skipped ${count} waiting ${count === 1 ? 'delivery' : 'deliveries'}`,
  })
  let skipped = 0
  for await (const some of partsOf(database, { ...selection, state: 'pending', endpoint: id, network: network_id })) {
    const deliveries = some.map((each) => number(each, 'id'))
    skipped += await database.transaction(() => skipSome(database, deliveries, now, noticeOf), true)
  }
  return skipped
}

/** Gives an endpoint a fresh start; the relay that sends to it learns of it. */
export function* startAfresh(database: RelayDatabase, ref: number, enable: boolean): Plan<Endpoint | undefined> {
  const version = yield* nextVersion()
  const found = yield* row(
    `UPDATE $schema.endpoints SET fresh_starts = fresh_starts + 1, defined = ?2${enable ? ', disabled = NULL' : ''}
     WHERE ref = ?1 AND removed_at IS NULL RETURNING ${endpointColumns}`,
    [ref, version],
  )
  yield* database.touch([ref], version)
  return found && endpointOf(found)
}
