/** Deliveries between the panel's words and those of the store: filters, pages, and one delivery with its attempts. */
import type {
  DeliveryDetail,
  DeliveryFilter,
  DeliveryPage,
  DeliveryPaging,
  DeliveryRow,
} from '../../../../lib/relay/relay-view.ts'
import type { DeliverySearch, DeliveryStatus, OperatorStore } from '../../store/operator/operator-store.ts'

/** Rows that one page looks through: a filter that few deliveries match yields a page that is not full, and a next one. */
const mostLooked = 20_000

export function searchOf(network: string, filter: DeliveryFilter): DeliverySearch {
  const { endpoint_id, event_type, event_id, state, outcome, http_status, min_milliseconds, since, until } = filter
  return {
    network,
    ...(endpoint_id === undefined ? {} : { endpoint: endpoint_id }),
    ...(event_type === undefined ? {} : { type: event_type }),
    ...(event_id === undefined ? {} : { event: event_id }),
    ...(state === undefined ? {} : { state }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(http_status === undefined ? {} : { status: http_status }),
    ...(min_milliseconds === undefined ? {} : { slower: min_milliseconds }),
    ...(since === undefined ? {} : { since: Date.parse(since) }),
    ...(until === undefined ? {} : { until: Date.parse(until) }),
  }
}

const rowOf = ({ delivery, network_id: _network, ...rest }: DeliveryStatus): DeliveryRow => ({ id: String(delivery), ...rest })

/** The number behind an id; `undefined` for what cannot be one. */
export const numberOf = (id: string): number | undefined => (/^\d{1,15}$/.test(id) ? Number(id) : undefined)

/** A page of deliveries, the newest first. */
export async function pageOf(
  store: OperatorStore,
  network: string,
  filter: DeliveryFilter,
  { limit, after }: DeliveryPaging,
): Promise<DeliveryPage> {
  const before = after === undefined ? undefined : (numberOf(after) ?? 0)
  const search = { ...searchOf(network, filter), ...(before === undefined ? {} : { before }) }
  const items: DeliveryRow[] = []
  let seen = 0
  for await (const { found, reached, looked } of store.walk(search, 'DESC', limit + 1)) {
    items.push(...found.map(rowOf))
    if (items.length > limit) return { items: items.slice(0, limit), next: items[limit - 1]?.id ?? null }
    seen += looked
    if (seen >= mostLooked) return { items, next: String(reached) }
  }
  return { items, next: null }
}

/** One delivery of a network with its body and its attempts. */
export async function detailOf(store: OperatorStore, network: string, id: string): Promise<DeliveryDetail | undefined> {
  const asked = numberOf(id)
  if (asked === undefined) return undefined
  for await (const { found } of store.walk({ network, id: asked }, 'DESC', 1)) {
    const [first] = found
    if (!first) continue
    const kept = await store.attempts(asked)
    const { attempts: number, last_attempt_at: at, last_status: status, last_outcome: outcome } = first
    const milliseconds = first.milliseconds ?? 0
    // A delivery that succeeded at its first attempt is recorded in its delivery alone.
    const only =
      kept.length === 0 && number > 0 && at !== null && outcome !== null
        ? [{ number, at, milliseconds, status, outcome, answer: null, answer_headers: null, reason: null }]
        : []
    return { ...rowOf(first), body: await store.body(asked), history: [...kept].reverse().concat(only) }
  }
  return undefined
}
