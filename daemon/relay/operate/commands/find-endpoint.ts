/** Which endpoint a person means. */
import { UsageError } from '../../../usage.ts'
import type { Endpoint } from '../../store/endpoint.ts'
import type { EndpointStatus, OperatorStore } from '../../store/operator-store.ts'

/** An endpoint, and whether its circuit is open. */
export interface FoundEndpoint {
  readonly endpoint: Endpoint
  readonly circuit: EndpointStatus['circuit']
}

/**
 * The endpoint with this id.
 * @param network needed only where several networks have an endpoint with this id
 * @throws UsageError
 */
export async function findEndpoint(store: OperatorStore, id: string, network: string | undefined): Promise<FoundEndpoint> {
  const known = await store.knownEndpoints()
  const found = known.filter((each) => each.id === id && (network === undefined || each.network_id === network))
  const [endpoint] = found
  if (!endpoint)
    throw new UsageError(`there is no endpoint ${id}${network === undefined ? '' : ` of network ${network}`}: see status`)
  if (found.length > 1) throw new UsageError(`${found.length} networks have an endpoint ${id}: name one with --network`)
  const { circuit = 'closed' } =
    (await store.endpoints()).find((each) => each.endpoint_id === id && each.network_id === endpoint.network_id) ?? {}
  return { endpoint, circuit }
}
