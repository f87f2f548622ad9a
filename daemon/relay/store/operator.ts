/**
 * The relay store for an operator: looking and replaying, while a relay works on it or not.
 *
 * Its statements are for SQLite and PostgreSQL alike: tables are named `$schema.deliveries`, parameters `?1`.
 */
import type { Positions } from '../../../lib/outbox/source.ts'
import { endpointOf } from './endpoint-row.ts'
import { arriving, isOpen, number, numberOrNull, type SqlRow, storedEndpointOf, text, textOrNull } from './rows.ts'
import type { DeliveryState, Endpoint, Notice } from './store.ts'

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
   * Makes deliveries due again, with all their attempts before them, and says how many. The oldest first, in parts between
   * which running relays have their turn.
   * @param pace deliveries that become due in a second (all of them at once when it is left out), and what to call after each part
   */
  replay(selection: Selection, now: number, pace?: ReplayPace): Promise<number>
  /**
   * Sets waiting deliveries of an endpoint aside, the oldest first, and says how many; `replay` undoes it. One that is in flight
   * counts as delivered if it is delivered after all.
   */
  skip(endpoint: Endpoint, selection: Selection, now: number): Promise<number>
  /**
   * Gives an endpoint a fresh start: its circuit closes, and sending begins slowly. A running relay notices within a second.
   * @param notice what is recorded of it
   */
  startAfresh(ref: number, now: number, notice?: Notice): Promise<void>
  /** How far the streams of the outbox are ingested; empty where ingesting removes. */
  positions(): Promise<Positions>
  /** What the database itself finds wrong with the store; nothing, as a rule. */
  problems(): Promise<readonly string[]>
  close(): Promise<void>
}

/** What an engine does for an operator. */
export interface OperatorDatabase extends Pick<OperatorStore, 'relays' | 'startAfresh' | 'positions' | 'problems' | 'close'> {
  rows(sql: string, values?: readonly (string | number)[]): Promise<readonly SqlRow[]>
  /** Skips those of these deliveries that wait, in one transaction with a notice, and says how many. */
  skip(deliveries: readonly number[], now: number, noticeOf: (count: number) => Notice): Promise<number>
  /** Makes some deliveries due, in one transaction, and says how many were not due before. */
  makeDue(deliveries: readonly Due[]): Promise<number>
}

const ordered = (column: string) =>
  `CASE (SELECT p."order" FROM $schema.endpoints p WHERE p.ref = endpoint) WHEN 'subject' THEN ${column}`

/** Where a delivery stands that is due again: it is in order only when the relay that sends has put it there. */
export const laneAgain = `lane = ${ordered(String(arriving))} ELSE 0 END,
  subject = ${ordered(`coalesce((SELECT e.subject FROM $schema.events e WHERE e.seq = event), '')`)} END`

export interface Due {
  readonly delivery: number
  readonly endpoint: number
  readonly due: number
}

const iso = (milliseconds: number | null): string | null => (milliseconds === null ? null : new Date(milliseconds).toISOString())

/** The store of an operator over a database. */
export function operatorStore(database: OperatorDatabase): OperatorStore {
  const { relays, startAfresh, positions, problems, close } = database
  return {
    relays,
    startAfresh,
    positions,
    problems,
    close,
    endpoints: () => endpoints(database),
    knownEndpoints: async () => (await allEndpoints(database)).map(endpointOf),
    deliveries: async (selection) => (await select(database, selection, 'DESC')).map(deliveryOf),
    async hasEventType(type) {
      const rows = await database.rows('SELECT 1 FROM $schema.events WHERE event_type = ?1 LIMIT 1', [type])
      return rows.length > 0
    },
    async attempts(delivery) {
      const rows = await database.rows('SELECT * FROM $schema.attempts WHERE delivery = ?1 ORDER BY at, number', [delivery])
      return rows.map((row) => ({
        number: number(row, 'number'),
        at: iso(number(row, 'at')) ?? '',
        outcome: text(row, 'outcome'),
        status: numberOrNull(row, 'status'),
        milliseconds: number(row, 'milliseconds'),
        answer: textOrNull(row, 'answer'),
      }))
    },
    async notices(limit) {
      const rows = await database.rows('SELECT * FROM $schema.notices ORDER BY seq DESC LIMIT ?1', [limit])
      return rows.map((row) => ({
        at: iso(number(row, 'at')) ?? '',
        kind: text(row, 'kind'),
        network_id: textOrNull(row, 'network_id'),
        endpoint_id: textOrNull(row, 'endpoint_id'),
        event_id: textOrNull(row, 'event_id'),
        text: text(row, 'text'),
      }))
    },
    async count(selection) {
      const { sql, values } = whereOf(selection, 0)
      const [row = {}] = await database.rows(`SELECT count(*) AS n FROM ${joined} WHERE ${sql}`, values)
      return number(row, 'n')
    },
    skip: (endpoint, selection, now) => skip(database, endpoint, selection, now),
    replay: (selection, now, pace) => replay(database, selection, now, pace),
  }
}

const allEndpoints = (database: OperatorDatabase) =>
  database.rows('SELECT * FROM $schema.endpoints WHERE removed_at IS NULL ORDER BY ref')

async function endpoints(database: OperatorDatabase): Promise<readonly EndpointStatus[]> {
  const byEndpoint = async (sql: string): Promise<ReadonlyMap<number, SqlRow>> =>
    new Map((await database.rows(sql)).map((row) => [number(row, 'endpoint'), row]))
  // Deliveries are numbered in the order in which their events were ingested. States are written out, so that each uses
  // the index of its state: a parameter could not.
  const waiting = await byEndpoint(
    `SELECT w.endpoint, w.n, w.due, e.taken
     FROM (SELECT endpoint, count(*) AS n, min(id) AS oldest, min(due) AS due FROM $schema.deliveries WHERE state = 'pending'
           GROUP BY endpoint) w
     JOIN $schema.deliveries d ON d.id = w.oldest JOIN $schema.events e ON e.seq = d.event`,
  )
  const dead = await byEndpoint(`SELECT endpoint, count(*) AS n FROM $schema.deliveries WHERE state = 'dead' GROUP BY endpoint`)
  // An endpoint that never failed has no state of its own yet: its last delivery tells.
  const delivered = await byEndpoint(
    `SELECT endpoint, max(at) AS at FROM (SELECT at, endpoint, state FROM $schema.deliveries ORDER BY id DESC LIMIT 1000) r
     WHERE state = 'delivered' GROUP BY endpoint`,
  )
  const rows = await allEndpoints(database)
  return rows.map((row) => {
    const { endpoint, state } = storedEndpointOf(row)
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
      oldest_pending_at: iso(waits ? number(waits, 'taken') : null),
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
    ...(since === undefined ? [] : [['e.taken >=', since] as const]),
    ...(until === undefined ? [] : [['e.taken <', until] as const]),
  ]
  const written = conditions.map(([condition], place) => `${condition} ?${place + 1}`)
  return {
    sql: ['p.removed_at IS NULL', ...written].join(' AND '),
    values: conditions.map(([, value]) => value),
  }
}

function select(
  database: OperatorDatabase,
  selection: Selection,
  direction: 'ASC' | 'DESC',
  after = 0,
): Promise<readonly SqlRow[]> {
  const { sql, values } = whereOf(selection, after)
  return database.rows(
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

/** Deliveries that are made due in one transaction. */
const part = 1000

async function replay(
  database: OperatorDatabase,
  selection: Selection,
  now: number,
  { perSecond, progress }: ReplayPace = {},
): Promise<number> {
  const dueOf = (place: number): number => Math.floor(now + (perSecond === undefined ? 0 : (place / perSecond) * 1000))
  let replayed = 0
  let looked = 0
  for (let after = 0; looked < selection.limit; ) {
    const rows = await select(database, { ...selection, limit: Math.min(part, selection.limit - looked) }, 'ASC', after)
    if (rows.length === 0) break
    replayed += await database.makeDue(
      rows.map((row, place) => ({
        delivery: number(row, 'id'),
        endpoint: number(row, 'endpoint'),
        due: dueOf(replayed + place),
      })),
    )
    looked += rows.length
    after = Math.max(...rows.map((row) => number(row, 'id')))
    progress?.(replayed)
  }
  return replayed
}

async function skip(database: OperatorDatabase, endpoint: Endpoint, selection: Selection, now: number): Promise<number> {
  const { network_id, id } = endpoint
  const chosen: Selection = { ...selection, state: 'pending', endpoint: id, network: network_id }
  const noticeOf = (count: number): Notice => ({
    kind: 'operator.skipped',
    network_id,
    endpoint_id: id,
    event_id: null,
    text: `an operator skipped ${count} waiting ${count === 1 ? 'delivery' : 'deliveries'}`,
  })
  let skipped = 0
  let looked = 0
  for (let after = 0; looked < chosen.limit; ) {
    const rows = await select(database, { ...chosen, limit: Math.min(part, chosen.limit - looked) }, 'ASC', after)
    if (rows.length === 0) break
    const ids = rows.map((row) => number(row, 'id'))
    skipped += await database.skip(ids, now, noticeOf)
    looked += rows.length
    after = Math.max(...ids)
  }
  return skipped
}
