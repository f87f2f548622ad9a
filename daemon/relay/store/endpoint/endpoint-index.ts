/** The endpoints that are there, by network: what decides where an event goes. */
import type { EventRecord } from '../../../../lib/outbox/record.ts'
import { wants } from '../../../../lib/outbox/wanted.ts'
import type { Endpoint } from './relay-endpoint.ts'

export interface Addressed {
  readonly record: EventRecord
  readonly receivers: readonly Endpoint[]
}

export class EndpointIndex {
  readonly #networks = new Map<string, Map<string, Endpoint>>()

  get(network_id: string | null, id: string | null): Endpoint | undefined {
    return this.#networks.get(network_id ?? '')?.get(id ?? '')
  }

  set(endpoint: Endpoint): void {
    const network = this.#networks.get(endpoint.network_id) ?? new Map<string, Endpoint>()
    network.set(endpoint.id, endpoint)
    this.#networks.set(endpoint.network_id, network)
  }

  delete({ network_id, id }: Pick<Endpoint, 'network_id' | 'id'>): void {
    const network = this.#networks.get(network_id)
    network?.delete(id)
    if (network?.size === 0) this.#networks.delete(network_id)
  }

  inNetwork(network_id: string): readonly Endpoint[] {
    return [...(this.#networks.get(network_id)?.values() ?? [])]
  }

  receiversOf(record: EventRecord): readonly Endpoint[] {
    return this.inNetwork(record.network_id).filter((endpoint) => wants(endpoint, record))
  }
}
