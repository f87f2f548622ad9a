/**
 * A search among deliveries, as statements. A network's own rows are found by an index, so that a rare network never reads
 * through the rows of the others.
 */
import type { DeliveryRow, DeliveryState } from '../../../../lib/relay/relay-admin.ts'
import { type Plan, type RelayDatabase, type Rows, row, rows, type SqlValue } from '../database.ts'
import { iso, number, numberOrNull, type SqlRow, text, textOrNull } from '../rows.ts'
import type { DeliverySearch } from './operator-store.ts'

/** Index entries that one statement reads at most, for all endpoints together; more only if there are more endpoints. */
export const mostOfStep = 5000

/** Ids from one bound to the other, the upper one excluded. */
export interface Range {
  readonly from: number
  readonly to: number
}

export type Order = 'ASC' | 'DESC'

/** The values of a statement, named in the order in which they are given. */
function parameters() {
  const values: SqlValue[] = []
  return { values, name: (value: SqlValue): string => `?${values.push(value)}` }
}
type Parameters = ReturnType<typeof parameters>

/** Whether a search is for one event or one id: then an index finds its few deliveries, wherever they are. */
export const isForFew = ({ event_id, id }: DeliverySearch): boolean => event_id !== undefined || id !== undefined

/** Whether the latest attempt of everything that matches has failed: such deliveries have a separate index. */
const isAboutFailures = ({ outcome, http_status, state }: DeliverySearch): boolean =>
  state === 'dead' ||
  state === 'skipped' ||
  (outcome !== undefined && outcome !== 'delivered') ||
  (http_status !== undefined && (http_status < 200 || http_status > 299))

/**
 * The deliveries of an endpoint `p` within a range, by the index that is smallest: by its name on SQLite. PostgreSQL is led to
 * it by conditions on rows and their order. It would else read everybody's deliveries by their ids.
 */
function withinOf({ dialect }: RelayDatabase, search: DeliverySearch, range: Range, { name }: Parameters) {
  const [from, to] = [name(range.from), name(range.to)]
  const isFailed = isAboutFailures(search)
  // The condition of the index, word for word.
  const indexed = isFailed ? `i.outcome <> 'delivered'` : 'i.id > 0'
  return dialect.engine === 'sqlite'
    ? {
        table: `$schema.deliveries i INDEXED BY ${isFailed ? 'deliveries_failed' : 'deliveries_endpoint'}`,
        where: `i.endpoint = p.ref AND i.id >= ${from} AND i.id < ${to} AND ${indexed}`,
        orderOf: (order: Order) => `i.id ${order}`,
      }
    : {
        table: '$schema.deliveries i',
        where: `(i.endpoint, i.id) >= (p.ref, ${from}) AND (i.endpoint, i.id) < (p.ref, ${to}) AND ${indexed}`,
        orderOf: (order: Order) => `i.endpoint ${order}, i.id ${order}`,
      }
}

/**
 * The newest deliveries of an endpoint `p`, as a query.
 * @param columns of the table `i`
 */
export const newestOf = ({ dialect: { engine } }: RelayDatabase, columns: string, limit: string): string =>
  engine === 'sqlite'
    ? `SELECT ${columns} FROM $schema.deliveries i INDEXED BY deliveries_endpoint WHERE i.endpoint = p.ref AND i.id > 0
       ORDER BY i.id DESC ${limit}`
    : `SELECT ${columns} FROM $schema.deliveries i WHERE (i.endpoint, i.id) >= (p.ref, 0) AND (i.endpoint, i.id) < (p.ref + 1, 0)
       AND i.id > 0 ORDER BY i.endpoint DESC, i.id DESC ${limit}`

/** The condition on endpoints `p`, deliveries `i` or their events `e`, for each part of a search that is no bound of its ids. */
const clauses: Readonly<Record<string, string>> = {
  network_id: 'p.network_id =',
  endpoint_id: 'p.id =',
  event_id: 'e.event_id =',
  event_type: 'e.event_type =',
  subject: 'e.subject =',
  state: 'i.state =',
  outcome: 'i.outcome =',
  http_status: 'i.status =',
  min_milliseconds: 'i.milliseconds >=',
  last_attempt_since: 'i.at >=',
  id: 'i.id =',
} satisfies Readonly<Record<Exclude<keyof DeliverySearch, 'since' | 'until' | 'before'>, string>>

function matchesOf(search: DeliverySearch, { name }: Parameters): string {
  const given = Object.entries({ ...search }).flatMap(([key, value]) => {
    const clause = clauses[key]
    const compared = key === 'last_attempt_since' ? Date.parse(String(value)) : value
    return clause === undefined || value === undefined ? [] : [` AND ${clause} ${name(compared)}`]
  })
  return `p.removed_at IS NULL${given.join('')}`
}

/** The conditions on endpoints `p` alone. */
const endpointsOf = ({ network_id, endpoint_id }: DeliverySearch, given: Parameters): string =>
  matchesOf({ ...(network_id === undefined ? {} : { network_id }), ...(endpoint_id === undefined ? {} : { endpoint_id }) }, given)

/** The tables of a search for one event or one id, in the order in which they are read. */
function fewOnSqlite({ id }: DeliverySearch): string {
  const [events, endpoints] = ['$schema.events e', '$schema.endpoints p']
  return id === undefined
    ? `${events} CROSS JOIN $schema.deliveries i INDEXED BY deliveries_event CROSS JOIN ${endpoints}`
    : `$schema.deliveries i CROSS JOIN ${events} CROSS JOIN ${endpoints}`
}

/** `OFFSET 0` keeps PostgreSQL from another order. */
function fewOnPostgres({ event_id, id }: DeliverySearch, { name }: Parameters): string {
  const first = (table: string, column: string, value: SqlValue) =>
    `(SELECT * FROM $schema.${table} WHERE ${column} = ${name(value)} OFFSET 0)`
  const then = (table: string, condition: string) =>
    `CROSS JOIN LATERAL (SELECT * FROM $schema.${table} WHERE ${condition} OFFSET 0)`
  const endpoint = `${then('endpoints', 'ref = i.endpoint')} p`
  return id === undefined
    ? `${first('events', 'event_id', event_id ?? null)} e ${then('deliveries', 'event = e.seq')} i ${endpoint}`
    : `${first('deliveries', 'id', id)} i ${then('events', 'seq = i.event')} e ${endpoint}`
}

/**
 * The tables of a search. The order of the joins and the indexes are fixed for one network: a planner that begins with
 * everybody's deliveries would read them all.
 */
function tablesOf(database: RelayDatabase, search: DeliverySearch, range: Range, order: Order, given: Parameters): string {
  const isSqlite = database.dialect.engine === 'sqlite'
  if (isForFew(search)) return isSqlite ? fewOnSqlite(search) : fewOnPostgres(search, given)
  if (search.network_id === undefined) return '$schema.deliveries i, $schema.events e, $schema.endpoints p'
  const { table, where, orderOf } = withinOf(database, search, range, given)
  return isSqlite
    ? `$schema.endpoints p CROSS JOIN ${table} ON ${where} CROSS JOIN $schema.events e ON e.seq = i.event`
    : `$schema.endpoints p CROSS JOIN LATERAL (SELECT * FROM ${table} WHERE ${where} ORDER BY ${orderOf(order)} LIMIT ${mostOfStep}) i
       CROSS JOIN LATERAL (SELECT * FROM $schema.events WHERE seq = i.event OFFSET 0) e`
}

function searchOf(database: RelayDatabase, search: DeliverySearch, range: Range, order: Order) {
  const given = parameters()
  const tables = tablesOf(database, search, range, order, given)
  const isJoined = isForFew(search) || search.network_id === undefined
  const joins = isJoined
    ? `i.event = e.seq AND p.ref = i.endpoint AND i.id >= ${given.name(range.from)} AND i.id < ${given.name(range.to)} AND `
    : ''
  return { given, sql: `FROM ${tables} WHERE ${joins}${matchesOf(search, given)}` }
}

export function* select(database: RelayDatabase, search: DeliverySearch, range: Range, order: Order, limit: number): Plan<Rows> {
  const { given, sql } = searchOf(database, search, range, order)
  return yield* rows(
    `SELECT i.*, e.event_id, e.event_type, e.event_timestamp, p.id AS endpoint_id, p.network_id ${sql}
     ORDER BY i.id ${order} LIMIT ${given.name(limit)}`,
    given.values,
  )
}

export function* countWithin(database: RelayDatabase, search: DeliverySearch, range: Range): Plan<number> {
  const { given, sql } = searchOf(database, search, range, 'ASC')
  const found = yield* row(`SELECT count(*) AS n ${sql}`, given.values)
  return number(found ?? {}, 'n')
}

/**
 * The id at which a step through a range ends.
 * @param size index entries of each endpoint
 * @returns null if the range has no more than that
 */
export function* edgeOf(
  database: RelayDatabase,
  search: DeliverySearch,
  range: Range,
  order: Order,
  size: number,
): Plan<number | null> {
  const given = parameters()
  const { table, where, orderOf } = withinOf(database, search, range, given)
  const found = yield* row(
    `SELECT ${order === 'ASC' ? 'min' : 'max'}((SELECT i.id FROM ${table} WHERE ${where}
       ORDER BY ${orderOf(order)} LIMIT 1 OFFSET ${given.name(size - 1)})) AS edge
     FROM $schema.endpoints p WHERE ${endpointsOf(search, given)}`,
    given.values,
  )
  return numberOrNull(found ?? { edge: null }, 'edge')
}

export function* endpointsIn(search: DeliverySearch): Plan<number> {
  const given = parameters()
  const found = yield* row(`SELECT count(*) AS n FROM $schema.endpoints p WHERE ${endpointsOf(search, given)}`, given.values)
  return number(found ?? {}, 'n')
}

export function deliveryOf(found: SqlRow): DeliveryRow {
  const state = text(found, 'state') as DeliveryState
  return {
    id: String(number(found, 'id')),
    state,
    network_id: text(found, 'network_id'),
    endpoint_id: text(found, 'endpoint_id'),
    event_id: text(found, 'event_id'),
    event_type: text(found, 'event_type'),
    event_timestamp: text(found, 'event_timestamp'),
    attempts: number(found, 'attempts'),
    last_attempt_at: iso(numberOrNull(found, 'at')),
    last_outcome: textOrNull(found, 'outcome'),
    last_status: numberOrNull(found, 'status'),
    milliseconds: numberOrNull(found, 'milliseconds'),
    next_attempt_at: state === 'pending' ? iso(number(found, 'due')) : null,
  }
}
