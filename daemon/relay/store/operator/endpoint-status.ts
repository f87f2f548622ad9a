/** The endpoints for an operator: what waits for each, what is dead, and when something is sent next. */
import { needs } from '../../../../lib/outbox/requires.ts'
import type { Plan, RelayDatabase, Rows } from '../database.ts'
import { rows } from '../database.ts'
import { endpointColumns } from '../endpoint/endpoint-row.ts'
import { whyUnsupported } from '../endpoint/supported.ts'
import { isOpen, iso, storedEndpointOf } from '../rows.ts'
import type { StoredStatus } from './operator-store.ts'
import { type Tallies, talliesOf } from './tallies.ts'

export const allEndpoints = `SELECT ${endpointColumns} FROM $schema.endpoints WHERE removed_at IS NULL ORDER BY ref`

const ofNetwork = `SELECT ${endpointColumns} FROM $schema.endpoints WHERE removed_at IS NULL AND network_id = ?1 ORDER BY ref`

/** Every endpoint, by its ref. */
export function* endpointsStatus(database: RelayDatabase): Plan<readonly StoredStatus[]> {
  return statusesOf(yield* rows(allEndpoints), yield* talliesOf(database))
}

/** The endpoints of one network, by their refs: what waits and what is dead is counted up to `mostOfEndpoint`. */
export function* networkStatus(database: RelayDatabase, network: string): Plan<readonly StoredStatus[]> {
  return statusesOf(yield* rows(ofNetwork, [network]), yield* talliesOf(database, network))
}

function statusesOf(endpoints: Rows, tallies: Tallies): readonly StoredStatus[] {
  return endpoints.map((found) => {
    const { endpoint, state } = storedEndpointOf(found)
    const { pending = 0, due = null, oldest = null, dead = 0, delivered = null } = tallies.get(endpoint.ref) ?? {}
    const url = URL.parse(endpoint.url)
    const unknown = whyUnsupported(endpoint)
    const unreadable = unknown ?? state?.unreadable ?? null
    const sent = endpoint.enabled && endpoint.disabled === null && unreadable === null
    const open = isOpen({ endpoint, state })
    const probe = open && sent ? (state?.breaker.readyAt ?? null) : null
    const set_aside = unknown !== undefined || (unreadable ?? '').startsWith(needs)
    const stopped = set_aside ? 'set aside' : unreadable !== null ? 'unreadable' : open ? 'circuit open' : 'delivering'
    return {
      endpoint_id: endpoint.id,
      network_id: endpoint.network_id,
      name: endpoint.name,
      origin: url?.origin ?? 'not a URL',
      path: url ? shortened(url.pathname) : '',
      state: endpoint.disabled !== null ? 'disabled' : endpoint.enabled ? 'active' : 'paused',
      activity: endpoint.disabled !== null ? 'disabled' : endpoint.enabled ? stopped : 'paused',
      reason: endpoint.disabled ?? unreadable,
      disabled: endpoint.disabled,
      circuit: open ? 'open' : 'closed',
      pending,
      dead,
      last_success_at: iso(state?.lastSuccess ?? delivered),
      failing_since: iso(state?.failingSince ?? null),
      oldest_pending_at: iso(oldest),
      next_attempt_at: iso(due !== null && sent ? Math.max(due, state?.pausedUntil ?? 0, probe ?? 0) : null),
      next_probe_at: iso(probe),
      last_error: state?.lastError ?? null,
      unreadable,
      set_aside,
    }
  })
}

/** A path that is too short to be a secret, or its last characters, as on a receipt. */
const shortened = (path: string): string => (path.length <= 8 ? path : `/…${path.slice(-4)}`)
