/** Why an event was delivered to an endpoint, or was not. */
import { wantsBody } from '../../../lib/outbox/wanted.ts'
import type { DeliveryRow, EndpointStatus, Explanation } from '../../../lib/relay/relay-admin.ts'
import type { Endpoint } from '../store/endpoint/relay-endpoint.ts'
import type { OperatorStore } from '../store/operator/operator-store.ts'
import { detailOf } from './deliveries.ts'

type Why = Omit<Explanation, 'delivery'>

const because = (reason: string, text: string): Why => ({ reason, text })

export async function explain(store: OperatorStore, endpoint: Endpoint, event_id: string): Promise<Explanation> {
  const { network_id, id: endpoint_id } = endpoint
  const [delivery] = await store.deliveries({ endpoint_id, network_id, event_id, limit: 1 })
  if (!delivery) return { ...(await whyNone(store, endpoint, event_id)), delivery: null }
  const status = (await store.endpointsOf(network_id)).find((each) => each.endpoint_id === endpoint_id)
  return { ...whyDelivery(delivery, status), delivery: (await detailOf(store, { id: delivery.id, network_id })) ?? null }
}

/** Why there is no delivery of an event to an endpoint. The relay keeps an event only if it goes to some endpoint. */
async function whyNone(store: OperatorStore, endpoint: Endpoint, event_id: string): Promise<Why> {
  const [other] = await store.deliveries({ event_id, limit: 1 })
  if (!other) return because('not known', 'no endpoint wanted this event, it is not ingested yet, or it is kept no longer')
  if (other.network_id !== endpoint.network_id) return because('other network', `the event is of network ${other.network_id}`)
  if (endpoint.events && !endpoint.events.includes(other.event_type))
    return because('type not chosen', `the endpoint wants no ${other.event_type}`)
  const content = endpoint.filter && (await store.content(Number(other.id)))
  if (endpoint.filter && content && !wantsBody(endpoint.filter, content.body, content.changed))
    return because('filter', 'the filter of the endpoint does not match the event')
  return because(
    'not chosen then',
    'the endpoint was not there, or wanted other events or another audience, when the event was ingested',
  )
}

function whyDelivery(delivery: DeliveryRow, status: Omit<EndpointStatus, 'hours'> | undefined): Why {
  const { state, attempts, last_attempt_at, next_attempt_at } = delivery
  if (state === 'delivered') return because('delivered', `at ${last_attempt_at ?? 'an unknown time'}`)
  if (state === 'skipped') return because('skipped', 'an operator set it aside; resend makes it due again')
  if (state === 'dead') return because('dead', `no attempt is left after ${attempts}; resend makes it due again`)
  if (status?.disabled != null) return because('disabled', `${status.disabled}; it waits`)
  if (status?.state === 'paused') return because('paused', 'the endpoint is paused; it waits')
  if (status?.set_aside) return because('set aside', status.unreadable ?? 'the endpoint is set aside')
  if (status?.unreadable != null) return because('unreadable', status.unreadable)
  if (status?.circuit === 'open')
    return because('circuit open', `it waits until the endpoint responds; next probe ${status.next_probe_at ?? 'soon'}`)
  return because('pending', `due ${next_attempt_at ?? 'now'}`)
}
