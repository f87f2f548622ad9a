/** Work on one endpoint that a person names, from the command line or the control port. */
import { about, CommandFailure, UsageError } from '../../../usage.ts'
import type { Endpoint } from '../../store/endpoint/relay-endpoint.ts'
import type { EndpointStatus, OperatorStore } from '../../store/operator/operator-store.ts'
import { checkKnown, type Skip } from './delivery-selection.ts'

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
    throw about(
      new CommandFailure(`there is no endpoint ${id}${network === undefined ? '' : ` of network ${network}`}: see status`),
      'network',
    )
  if (found.length > 1) throw new UsageError(`${found.length} networks have an endpoint ${id}: name one with --network`)
  const { circuit = 'closed' } =
    (await store.endpoints()).find((each) => each.endpoint_id === id && each.network_id === endpoint.network_id) ?? {}
  return { endpoint, circuit }
}

/** The result of closing a circuit. */
export interface CircuitClosed {
  readonly endpoint_id: string
  readonly network_id: string
  /** How the circuit was before. */
  readonly was: 'closed' | 'open'
}

/** Closes the circuit of an endpoint and records that. */
export async function closeCircuitOf(
  store: OperatorStore,
  id: string,
  network: string | undefined,
  now: number,
): Promise<CircuitClosed> {
  const { endpoint, circuit } = await findEndpoint(store, id, network)
  const about = { endpoint_id: id, network_id: endpoint.network_id }
  await store.startAfresh(endpoint.ref, now, {
    ...about,
    kind: 'operator.closed_circuit',
    event_id: null,
    text: circuit === 'open' ? 'an operator closed the circuit' : 'an operator closed the circuit, which was not open',
  })
  return { ...about, was: circuit }
}

/**
 * Skips the selected deliveries, and returns their number.
 * @throws UsageError when there is no such endpoint or event type
 */
export async function skipIn(store: OperatorStore, { endpoint: id, network, selection }: Skip, now: number): Promise<number> {
  const { endpoint } = await findEndpoint(store, id, network)
  await checkKnown(store, selection)
  return store.skip(endpoint, selection, now)
}
