/** Rows of the stores to what the relay works with. SQLite gives values as they are, PostgreSQL as text. */
import { crc32 } from 'node:zlib'
import { endpointOf, type SqlRow } from './endpoint/endpoint-row.ts'
import type { EndpointState, StoredEndpoint } from './endpoint/relay-endpoint.ts'
import type { Lane, Outgoing, Waiting } from './store.ts'

export type { SqlRow }

export const number = (row: SqlRow, column: string): number => Number(row[column])
export const text = (row: SqlRow, column: string): string => String(row[column])
export const textOrNull = (row: SqlRow, column: string): string | null => (row[column] == null ? null : String(row[column]))
export const numberOrNull = (row: SqlRow, column: string): number | null => (row[column] === null ? null : Number(row[column]))

export const iso = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : new Date(milliseconds).toISOString()

export function storedEndpointOf(row: SqlRow): StoredEndpoint {
  const state = textOrNull(row, 'state')
  return { endpoint: endpointOf(row), state: state === null ? undefined : (JSON.parse(state) as EndpointState) }
}

/** Whether its circuit is open: a reset closes it. */
export const isOpen = ({ endpoint, state }: StoredEndpoint): boolean =>
  state?.breaker.open === true && (state.fresh_starts ?? 0) >= endpoint.fresh_starts

/** How a lane is written in the stores. */
export const laneNumber = (lane: Lane): number => (lane === 'first' ? 0 : 1)

/** The lane of deliveries that wait for an earlier one of their subject. */
export const blocked = 2
/** The lane of new deliveries without an order yet: the relay that sends to the endpoint sorts them. */
export const unsorted = 3

export const waitingOf = (row: SqlRow): Waiting => ({
  delivery: number(row, 'id'),
  event: number(row, 'event'),
  lane: number(row, 'lane') === 0 ? 'first' : 'retry',
  due: number(row, 'due'),
  attempts: number(row, 'attempts'),
  interruptions: number(row, 'interruptions'),
})

export function outgoingOf(row: SqlRow, delivery: number): Outgoing {
  const stored = row['body']
  const body = stored instanceof Uint8Array ? stored : Buffer.from(String(stored ?? ''))
  return {
    delivery,
    event_id: text(row, 'event_id'),
    event_type: text(row, 'event_type'),
    network_id: text(row, 'network_id'),
    received_at: number(row, 'received_at'),
    trace: textOrNull(row, 'trace'),
    changed: textOrNull(row, 'changed'),
    body,
    intact: isIntact(body, numberOrNull(row, 'crc')),
  }
}

/** The names of changed fields, as they are stored. */
export const namesIn = (changed: string | null): readonly string[] => changed?.split(',') ?? []

/** Whether a body has the checksum stored with it. Earlier versions kept none. */
export const isIntact = (body: Uint8Array, sum: number | null): boolean => sum === null || sum === crc32(body)
