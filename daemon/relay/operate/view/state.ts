/** The state of a network for the panel: its endpoints, and what happened in the last hours. */
import { type EndpointHealth, mostOfEndpoint, type RelayActivity, type RelayStatus } from '../../../../lib/relay/relay-view.ts'
import type { EndpointStatus, OperatorStore, Slot } from '../../store/operator/operator-store.ts'
import type { Side } from './side.ts'

/** The newest deliveries of each endpoint that charts are drawn from. */
const newest = 10_000
const minute = 60_000
const day = 24 * 60 * minute

export async function statusOf(store: OperatorStore, network: string, side: Side): Promise<RelayStatus> {
  const probing = side.probing()
  const known = (await store.knownEndpoints()).filter(({ network_id, ref }) => network_id === network && probing.has(ref))
  const hours = await store.slots(network, side.now() - day, day / 24, newest)
  const endpoints = await store.endpointsOf(network)
  return {
    running: await side.isRunning(store),
    endpoints: endpoints.map((each) =>
      healthOf(
        each,
        known.some(({ id }) => id === each.endpoint_id),
        hours.filter(({ endpoint_id }) => endpoint_id === each.endpoint_id),
      ),
    ),
  }
}

function healthOf(each: EndpointStatus, isProbing: boolean, hours: readonly Slot[]): EndpointHealth {
  const { endpoint_id, state, disabled, unreadable, set_aside, circuit, pending, dead } = each
  const { oldest_pending_at, last_success_at, last_error, next_attempt_at, next_probe_at } = each
  const sending = circuit === 'closed' ? 'delivering' : isProbing ? 'probing' : 'circuit open'
  const read = set_aside ? 'set aside' : unreadable !== null ? 'unreadable' : sending
  const activity = disabled !== null ? 'disabled' : state === 'off' ? 'paused' : read
  return {
    ...{ endpoint_id, activity, reason: disabled ?? unreadable, pending, dead },
    ...{ oldest_pending_at, last_success_at, last_error, next_attempt_at, next_probe_at },
    hours: hours.map(({ at, delivered, failed }) => ({ at: new Date(at).toISOString(), delivered, failed })),
  }
}

export async function activityOf(store: OperatorStore, network: string, since: number): Promise<RelayActivity> {
  const byMinute = new Map<number, { delivered: number; failed: number; circuit_changes: number }>()
  const minuteAt = (at: number) => {
    const found = byMinute.get(at) ?? { delivered: 0, failed: 0, circuit_changes: 0 }
    byMinute.set(at, found)
    return found
  }
  for (const { at, delivered, failed } of await store.slots(network, since, minute, newest)) {
    const found = minuteAt(at)
    found.delivered += delivered
    found.failed += failed
  }
  for (const { at, kind, network_id } of await store.notices(1000))
    if (network_id === network && Date.parse(at) >= since && ['endpoint.opened', 'endpoint.recovered'].includes(kind))
      minuteAt(Math.floor(Date.parse(at) / minute) * minute).circuit_changes++
  const endpoints = await store.endpointsOf(network)
  const [oldest = null] = endpoints.flatMap(({ oldest_pending_at }) => oldest_pending_at ?? []).toSorted()
  return {
    minutes: [...byMinute]
      .toSorted(([one], [other]) => one - other)
      .map(([at, found]) => ({ at: new Date(at).toISOString(), ...found })),
    oldest_pending_at: oldest,
    pending: {
      count: endpoints.reduce((sum, { pending }) => sum + pending, 0),
      exact: endpoints.every(({ pending }) => pending < mostOfEndpoint),
    },
  }
}
