/** Rows of the stores to what the relay works with. SQLite gives values as they are, PostgreSQL as text. */
import { crc32 } from '../../../lib/base/crc32.ts'
import type { Audience, EndpointUpsert } from '../../../lib/outbox/record.ts'
import type { Endpoint, EndpointState, Lane, Outgoing, StoredEndpoint, Waiting } from './store.ts'

export type SqlRow = Readonly<Record<string, unknown>>

export const number = (row: SqlRow, column: string): number => Number(row[column])
export const text = (row: SqlRow, column: string): string => String(row[column])
export const textOrNull = (row: SqlRow, column: string): string | null => (row[column] == null ? null : String(row[column]))
export const numberOrNull = (row: SqlRow, column: string): number | null => (row[column] === null ? null : Number(row[column]))

/** By their names: a prepared `SELECT *` of PostgreSQL fails as soon as a later version has added a column. */
export const endpointColumns =
  'ref, network_id, id, name, url, key, secrets, old, events, audience, enabled, "order", rate_per_second, disabled, removed_at, state, defined, fresh_starts'
const orders = ['fifo', 'subject'] as const

export function endpointOf(row: SqlRow): Endpoint {
  const events = textOrNull(row, 'events')
  return {
    ref: number(row, 'ref'),
    id: text(row, 'id'),
    network_id: text(row, 'network_id'),
    name: textOrNull(row, 'name'),
    url: text(row, 'url'),
    key: text(row, 'key'),
    secrets: JSON.parse(text(row, 'secrets')) as readonly string[],
    ...oldOf(textOrNull(row, 'old')),
    events: events === null ? null : (JSON.parse(events) as readonly string[]),
    audience: text(row, 'audience') as Audience,
    enabled: row['enabled'] === 1 || row['enabled'] === 't',
    order: orders.find((order) => order === row['order']) ?? 'none',
    rate_per_second: numberOrNull(row, 'rate_per_second'),
    disabled: textOrNull(row, 'disabled'),
    fresh_starts: number(row, 'fresh_starts'),
  }
}

/** Replaced keys and secrets, as they stand in the column `old`, which is null where there are none. */
const oldOf = (column: string | null): Pick<Endpoint, 'old_keys' | 'old_secrets'> =>
  column === null ? { old_keys: [], old_secrets: [] } : JSON.parse(column)

/** What the columns `name`, `old` and `old_until` hold of a record. */
export function detailsOf({ name = null, old_keys = [], old_secrets = [] }: EndpointUpsert) {
  const ends = [...old_keys, ...old_secrets].map(({ until }) => Date.parse(until))
  const old = ends.length > 0 ? JSON.stringify({ old_keys, old_secrets }) : null
  return { name, old, old_until: ends.length > 0 ? Math.max(...ends) : null }
}

export function storedEndpointOf(row: SqlRow): StoredEndpoint {
  const state = textOrNull(row, 'state')
  return { endpoint: endpointOf(row), state: state === null ? undefined : (JSON.parse(state) as EndpointState) }
}

/** Whether its circuit is open: what was open before a fresh start is open no longer. */
export const isOpen = ({ endpoint, state }: StoredEndpoint): boolean =>
  state?.breaker.open === true && (state.fresh_starts ?? 0) >= endpoint.fresh_starts

/** How a lane is written in the stores. */
export const laneNumber = (lane: Lane): number => (lane === 'first' ? 0 : 1)

/** The lane of deliveries that wait for an earlier one of their subject. */
export const behind = 2
/** The lane of those that have come and are not in order yet: the relay that sends to the endpoint puts them there. */
export const arriving = 3

export const waitingOf = (row: SqlRow): Waiting => ({
  delivery: number(row, 'id'),
  event: number(row, 'event'),
  lane: number(row, 'lane') === 0 ? 'first' : 'retry',
  due: number(row, 'due'),
  attempts: number(row, 'attempts'),
  interruptions: number(row, 'starts'),
})

export function outgoingOf(row: SqlRow, delivery: number): Outgoing {
  const stored = row['body']
  const body = stored instanceof Uint8Array ? stored : Buffer.from(String(stored ?? ''))
  const sum = numberOrNull(row, 'crc')
  return {
    delivery,
    event_id: text(row, 'event_id'),
    event_type: text(row, 'event_type'),
    network_id: text(row, 'network_id'),
    received_at: number(row, 'taken'),
    body,
    // Earlier versions kept none.
    intact: sum === null || sum === crc32(body),
  }
}
