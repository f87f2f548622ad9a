/** The relay store for an operator: looking and replaying, while a relay works on it or not. */
import { existsSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { UsageError } from '../../usage.ts'
import { inTransaction, openDatabase } from './database.ts'
import { number, numberOrNull, type SqlRow, storedEndpointOf, text, textOrNull } from './rows.ts'
import type { DeliveryState, EndpointState } from './store.ts'

/** One endpoint for a person: no key, no secret, and of its URL the origin only. */
export interface EndpointStatus {
  readonly endpoint_id: string
  readonly network_id: string
  readonly origin: string
  readonly state: 'active' | 'off' | 'disabled'
  /** Why the relay stopped sending to it. */
  readonly disabled: string | null
  readonly circuit: 'closed' | 'open'
  readonly pending: number
  readonly dead: number
  readonly last_success_at: string | null
  readonly failing_since: string | null
  /** When the oldest event that waits for it was taken over. */
  readonly oldest_pending_at: string | null
  /** When something is due for it; an open circuit may hold that back. */
  readonly next_attempt_at: string | null
  readonly last_error: string | null
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
  /** Taken over at or after, and before: milliseconds since 1970. */
  readonly since?: number
  readonly until?: number
  readonly limit: number
}

export interface ReplayPace {
  readonly perSecond?: number | undefined
  readonly progress?: ((replayed: number) => void) | undefined
}

export interface OperatorStore {
  endpoints(): readonly EndpointStatus[]
  /** The newest first. */
  deliveries(selection: Selection): readonly DeliveryStatus[]
  attempts(delivery: number): readonly AttemptStatus[]
  notices(limit: number): readonly NoticeStatus[]
  /** How many deliveries a selection has, its limit aside. */
  count(selection: Selection): number
  /**
   * Makes deliveries due again, with all their attempts before them, and says how many. The oldest first, in parts between
   * which a running relay has its turn.
   * @param pace deliveries that become due in a second (all of them at once when it is left out), and what to call after each part
   */
  replay(selection: Selection, now: number, pace?: ReplayPace): number
  /** What SQLite itself finds wrong with the file; nothing, as a rule. */
  problems(): readonly string[]
  close(): void
}

const iso = (milliseconds: number | null): string | null => (milliseconds === null ? null : new Date(milliseconds).toISOString())

/**
 * Opens the store of an outbox.
 * @throws UsageError when no relay has ever run there, StorageError
 */
export function openOperatorStore(path: string): OperatorStore {
  if (!existsSync(path)) throw new UsageError(`no relay has run on this outbox yet: ${path} does not exist`)
  const database = openDatabase(path)
  return {
    endpoints: () => endpoints(database),
    deliveries: (selection) => select(database, selection, 'DESC').map(deliveryOf),
    attempts: (delivery) =>
      database
        .prepare('SELECT * FROM attempts WHERE delivery = ? ORDER BY at, number')
        .all(delivery)
        .map((row) => ({
          number: number(row, 'number'),
          at: iso(number(row, 'at')) ?? '',
          outcome: text(row, 'outcome'),
          status: numberOrNull(row, 'status'),
          milliseconds: number(row, 'milliseconds'),
          answer: textOrNull(row, 'answer'),
        })),
    notices: (limit) =>
      database
        .prepare('SELECT * FROM notices ORDER BY seq DESC LIMIT ?')
        .all(limit)
        .map((row) => ({
          at: iso(number(row, 'at')) ?? '',
          kind: text(row, 'kind'),
          network_id: textOrNull(row, 'network_id'),
          endpoint_id: textOrNull(row, 'endpoint_id'),
          event_id: textOrNull(row, 'event_id'),
          text: text(row, 'text'),
        })),
    count: (selection) => count(database, selection),
    replay: (selection, now, pace) => replay(database, selection, now, pace),
    problems: () =>
      database
        .prepare('PRAGMA quick_check')
        .all()
        .map((row) => text(row, 'quick_check'))
        .filter((each) => each !== 'ok'),
    close: () => database.close(),
  }
}

function endpoints(database: DatabaseSync): readonly EndpointStatus[] {
  // Written out so that each uses the index of its state; a parameter could not.
  const counted = (sql: string) =>
    new Map(
      database
        .prepare(sql)
        .all()
        .map((row) => [number(row, 'endpoint'), number(row, 'n')]),
    )
  const pending = counted(`SELECT endpoint, count(*) AS n FROM deliveries WHERE state = 'pending' GROUP BY endpoint`)
  const oldest = database.prepare(
    // Deliveries are numbered in the order in which their events were taken over, and the index holds these numbers.
    `SELECT e.taken FROM deliveries d JOIN events e ON e.seq = d.event
     WHERE d.id = (SELECT min(id) FROM deliveries WHERE endpoint = ? AND state = 'pending')`,
  )
  const next = database.prepare(
    `SELECT min(due) AS due FROM (
       SELECT min(due) AS due FROM deliveries WHERE endpoint = $ref AND lane = 0 AND state = 'pending'
       UNION ALL SELECT min(due) FROM deliveries WHERE endpoint = $ref AND lane = 1 AND state = 'pending')`,
  )
  const dead = counted(`SELECT endpoint, count(*) AS n FROM deliveries WHERE state = 'dead' GROUP BY endpoint`)
  return database
    .prepare('SELECT * FROM endpoints WHERE removed_at IS NULL ORDER BY ref')
    .all()
    .map((row) => {
      const { endpoint, state } = storedEndpointOf(row)
      const waits = oldest.get(endpoint.ref)
      const due = numberOrNull(next.get({ $ref: endpoint.ref }) ?? { due: null }, 'due')
      const sent = endpoint.enabled && endpoint.disabled === null
      return {
        endpoint_id: endpoint.id,
        network_id: endpoint.network_id,
        origin: URL.canParse(endpoint.url) ? new URL(endpoint.url).origin : 'not a URL',
        state: endpoint.disabled !== null ? 'disabled' : endpoint.enabled ? 'active' : 'off',
        disabled: endpoint.disabled,
        circuit: state?.breaker.open ? 'open' : 'closed',
        pending: pending.get(endpoint.ref) ?? 0,
        dead: dead.get(endpoint.ref) ?? 0,
        last_success_at: iso(state?.lastSuccess ?? lastDelivered(database, endpoint.ref, state)),
        failing_since: iso(state?.failingSince ?? null),
        oldest_pending_at: iso(waits ? number(waits, 'taken') : null),
        next_attempt_at: iso(due === null || !sent ? null : Math.max(due, state?.pausedUntil ?? 0)),
        last_error: state?.lastError ?? null,
      }
    })
}

/** An endpoint that never failed has no state of its own yet: its last delivery tells. */
function lastDelivered(database: DatabaseSync, ref: number, state: EndpointState | undefined): number | null {
  if (state && state.lastSuccess !== null) return state.lastSuccess
  const recent = database.prepare(
    `SELECT at FROM (SELECT at, endpoint, state FROM deliveries ORDER BY id DESC LIMIT 1000) WHERE endpoint = ? AND state = 'delivered' LIMIT 1`,
  )
  const row = recent.get(ref)
  return row ? numberOrNull(row, 'at') : null
}

const joined = 'deliveries d JOIN events e ON e.seq = d.event JOIN endpoints p ON p.ref = d.endpoint'

/** The conditions of a selection, for `joined`. */
function whereOf(selection: Selection, after: number) {
  const { state, endpoint, network, event, type, since, until } = selection
  const conditions = [
    ['d.id > ?', after] as const,
    ...(state === undefined ? [] : [['d.state = ?', state] as const]),
    ...(endpoint === undefined ? [] : [['p.id = ?', endpoint] as const]),
    ...(network === undefined ? [] : [['p.network_id = ?', network] as const]),
    ...(event === undefined ? [] : [['e.event_id = ?', event] as const]),
    ...(type === undefined ? [] : [['e.event_type = ?', type] as const]),
    ...(since === undefined ? [] : [['e.taken >= ?', since] as const]),
    ...(until === undefined ? [] : [['e.taken < ?', until] as const]),
  ]
  return {
    sql: ['p.removed_at IS NULL', ...conditions.map(([condition]) => condition)].join(' AND '),
    values: conditions.map(([, value]) => value),
  }
}

function select(database: DatabaseSync, selection: Selection, direction: 'ASC' | 'DESC', after = 0): SqlRow[] {
  const { sql, values } = whereOf(selection, after)
  return database
    .prepare(
      `SELECT d.*, e.event_id, e.event_type, e.event_timestamp, p.id AS endpoint_id, p.network_id
       FROM ${joined} WHERE ${sql} ORDER BY d.id ${direction} LIMIT ?`,
    )
    .all(...values, selection.limit)
}

function count(database: DatabaseSync, selection: Selection): number {
  const { sql, values } = whereOf(selection, 0)
  return number(database.prepare(`SELECT count(*) AS n FROM ${joined} WHERE ${sql}`).get(...values) ?? {}, 'n')
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

function replay(database: DatabaseSync, selection: Selection, now: number, { perSecond, progress }: ReplayPace = {}): number {
  const again = database.prepare(
    `UPDATE deliveries SET state = 'pending', lane = 0, due = ?, attempts = 0, starts = 0 WHERE id = ? AND state <> 'pending'`,
  )
  const dueOf = (place: number): number => Math.floor(now + (perSecond === undefined ? 0 : (place / perSecond) * 1000))
  let replayed = 0
  let looked = 0
  for (let after = 0; looked < selection.limit; ) {
    const rows = select(database, { ...selection, limit: Math.min(part, selection.limit - looked) }, 'ASC', after)
    if (rows.length === 0) break
    inTransaction(database, () => {
      for (const row of rows) replayed += Number(again.run(dueOf(replayed), number(row, 'id')).changes)
    })
    looked += rows.length
    after = Math.max(...rows.map((row) => number(row, 'id')))
    progress?.(replayed)
  }
  return replayed
}
