/** A relay of a test: what the panel would be given by any implementation of the interface. */
import type { DeliveryDetail, EndpointStatus, RelayAdmin, ResendRequest, TestResult } from '../../../lib/panel/index.ts'
import { durationBounds } from '../../../lib/relay/durations.ts'

type Health = Partial<Omit<EndpointStatus, 'hours'>> &
  Pick<EndpointStatus, 'endpoint_id'> & { hours?: [delivered: number, failed: number][]; durations?: number[]; slowest?: number }

const none = Array.from(durationBounds, () => 0).concat(0)

const healthOf = ({ hours = [], durations = none, slowest = 0, ...health }: Health, now: number): EndpointStatus => ({
  ...{ network_id: '1', name: null, origin: 'https://example.org', path: '/', state: 'active', circuit: 'closed' },
  ...{ disabled: null, unreadable: null, set_aside: false, failing_since: null },
  ...{ activity: 'delivering', reason: null, pending: 0, dead: 0, oldest_pending_at: null, last_success_at: null },
  ...{ last_error: null, next_attempt_at: null, next_probe_at: null },
  ...health,
  // The last one is the present hour.
  hours: hours.map(([delivered, failed], place) => ({
    ...{ at: new Date(now - (hours.length - 1 - place) * 3_600_000).toISOString(), delivered, failed, durations, slowest },
  })),
})

export const deliveryOf = (id: string, given: Partial<DeliveryDetail> = {}): DeliveryDetail => ({
  ...{ id, network_id: '1', endpoint_id: '7', event_id: `event-${id}`, event_type: 'PostCreatedHook' },
  ...{ event_timestamp: '2026-11-20T09:00:00.000Z', state: 'delivered', attempts: 1 },
  ...{ last_attempt_at: '2026-11-20T09:00:01.000Z', last_outcome: 'delivered', last_status: 204, milliseconds: 12 },
  ...{ next_attempt_at: null, body: '{"payload":{"title":"Hello"}}', history: [] },
  ...given,
})

/**
 * @param deliveries each network with its own, the newest first
 * @param now in the hour that the counts end with
 */
export function relayOf(
  deliveries: Readonly<Record<string, readonly DeliveryDetail[]>> = {},
  now = Date.parse('2026-11-20T10:00:00Z'),
) {
  const endpoints: Health[] = []
  const tested: string[] = []
  const filters: unknown[] = []
  const resends: ResendRequest[] = []
  const stopped: string[] = []
  const closed: string[] = []
  const at = '2026-11-20T10:00:00.000Z'
  const state = {
    running: true,
    testAnswer: { outcome: 'delivered', status: 204, reason: 'HTTP 204', milliseconds: 5 } as TestResult | undefined,
    counted: { count: 0, exact: true },
  }
  const rows = (network: string) => deliveries[network] ?? []
  const progress = (id: string, end: 'running' | 'stopped') => ({
    ...{ id, state: end, done: 3, of: { count: 10, exact: true }, started_at: at },
  })
  const admin: RelayAdmin = {
    status: async () => ({
      ...{ running: state.running, relays: [], notices: [] },
      endpoints: endpoints.map((each) => healthOf(each, now)),
    }),
    activity: async () => ({
      minutes: [{ at, delivered: 60, failed: 5, circuit_changes: 1 }],
      ...{ oldest_pending_at: null, pending: { count: 500_000, exact: false } },
    }),
    async list({ network_id = '', limit = 50, after, ...filter }) {
      filters.push(filter)
      const start = after === undefined ? 0 : Number(after)
      const items = rows(network_id).slice(start, start + limit)
      return { items, next: start + limit < rows(network_id).length ? String(start + limit) : null }
    },
    count: async ({ network_id = '' }) =>
      state.counted.count > 0 ? state.counted : { count: rows(network_id).length, exact: true },
    get: async ({ network_id = '', id }) => rows(network_id).find((each) => each.id === id),
    async resend(request) {
      resends.push(request)
      return progress(`r${resends.length}`, 'running')
    },
    progress: async ({ network_id, id }) =>
      resends[Number(id.slice(1)) - 1]?.network_id === network_id
        ? progress(id, stopped.includes(id) ? 'stopped' : 'running')
        : undefined,
    async stop({ network_id, id }) {
      if (resends[Number(id.slice(1)) - 1]?.network_id !== network_id) return undefined
      stopped.push(id)
      return progress(id, 'stopped')
    },
    skip: async () => ({ skipped: 0 }),
    explain: async () => undefined,
    async test({ network_id, endpoint_id, event_type = '' }) {
      tested.push(`${network_id} ${endpoint_id} ${event_type}`.trim())
      return state.testAnswer
    },
    enable: async () => ({ enabled: true }),
    disable: async () => ({ enabled: false }),
    async closeCircuit(ref) {
      closed.push(ref.endpoint_id)
      return { ...ref, was: 'open' }
    },
  }
  return Object.assign(state, admin, { admin, endpoints, tested, filters, resends, stopped, closed })
}
