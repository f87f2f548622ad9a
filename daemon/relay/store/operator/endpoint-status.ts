/** The endpoints for an operator: what waits for each, what is dead, and when something is sent next. */
import { type Plan, rows } from '../database.ts'
import { endpointColumns } from '../endpoint/endpoint-row.ts'
import { isOpen, iso, number, numberOrNull, type SqlRow, storedEndpointOf } from '../rows.ts'
import type { EndpointStatus } from './operator-store.ts'

export const allEndpoints = `SELECT ${endpointColumns} FROM $schema.endpoints WHERE removed_at IS NULL ORDER BY ref`

function* byEndpoint(sql: string): Plan<ReadonlyMap<number, SqlRow>> {
  return new Map((yield* rows(sql)).map((each) => [number(each, 'endpoint'), each]))
}

/** Every endpoint, by its ref. */
export function* endpointsStatus(): Plan<readonly EndpointStatus[]> {
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
