/** The state of relays and their endpoints, and what happened in the last hours. */
import { mostOfEndpoint, type RelayActivity, type RelayStatus } from '../../../lib/relay/relay-admin.ts'
import type { OperatorStore } from '../store/operator/operator-store.ts'
import type { RelayBackend } from './backend.ts'

/** The newest deliveries of each endpoint that the chart of minutes is drawn from. */
const newest = 10_000
const minute = 60_000
const day = 24 * 60 * minute

/** @param network_id of which each endpoint has its last day */
export async function statusOf(
  store: OperatorStore,
  network_id: string | undefined,
  backend: RelayBackend,
): Promise<RelayStatus> {
  const probing = backend.probing()
  const isProbing = new Set(
    (await store.knownEndpoints()).filter(({ ref }) => probing.has(ref)).map((each) => `${each.network_id} ${each.id}`),
  )
  const endpoints = await (network_id === undefined ? store.endpoints() : store.endpointsOf(network_id))
  const counted = network_id === undefined ? [] : await store.hours(network_id, backend.now() - day)
  const hours = Map.groupBy(counted, ({ endpoint_id }) => endpoint_id)
  const notices = await store.notices(100)
  return {
    running: await backend.isRunning(store),
    relays: await store.relays(),
    endpoints: endpoints.map((each) => ({
      ...each,
      ...(each.activity === 'circuit open' && isProbing.has(`${each.network_id} ${each.endpoint_id}`)
        ? { activity: 'probing' as const }
        : {}),
      hours: (hours.get(each.endpoint_id) ?? []).map(({ endpoint_id: _, at, ...hour }) => ({
        ...{ at: new Date(at).toISOString(), ...hour },
      })),
    })),
    notices: notices.filter((each) => network_id === undefined || each.network_id === network_id),
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
