/** `folkmoot-relay explain`: why an event was delivered to an endpoint, or was not. */
import { wantsBody } from '../../../../lib/outbox/wanted.ts'
import { jsonLines } from '../../../json.ts'
import { UsageError } from '../../../usage.ts'
import type { Endpoint } from '../../store/endpoint/relay-endpoint.ts'
import type { DeliveryStatus, EndpointStatus, OperatorStore } from '../../store/operator/operator-store.ts'
import { findEndpoint } from '../tasks/on-endpoint.ts'
import { type InspectFlags, withStore } from './inspect.ts'

export interface ExplainFlags extends InspectFlags {
  readonly endpoint?: string
  readonly network?: string
  readonly event?: string
}

/** Works with a running relay, and without one. @throws UsageError */
export async function explain({ endpoint: id, event, network, ...flags }: ExplainFlags): Promise<string> {
  if (!id || !event) throw new UsageError('explain needs --event and --endpoint')
  return withStore(flags, async (store) => {
    const { endpoint } = await findEndpoint(store, id, network)
    const about = { event_id: event, endpoint_id: id, network_id: endpoint.network_id }
    const [delivery] = await store.deliveries({ endpoint: id, network: endpoint.network_id, event, limit: 1 })
    const attempts = delivery ? await store.attempts(delivery.delivery) : []
    const status = (await store.endpoints()).find((each) => each.endpoint_id === id && each.network_id === endpoint.network_id)
    const why = delivery ? whyDelivery(delivery, status) : await whyNone(store, endpoint, event)
    if (flags.json) return jsonLines([{ ...about, ...why, delivery: delivery ?? null, attempts }])
    const lines = attempts.map(
      ({ number, at, outcome, status: code, reason, milliseconds }) =>
        `  attempt ${number} at ${at}: ${[outcome, code, reason].filter((each) => each !== null).join(' ')}, ${milliseconds} ms`,
    )
    return `${[`${why.reason}: ${why.text}`, ...lines].join('\n')}\n`
  })
}

interface Why {
  /** In a word or two, for programs. */
  readonly reason: string
  readonly text: string
}

const because = (reason: string, text: string): Why => ({ reason, text })

/** Why there is no delivery of an event to an endpoint. The relay keeps an event only if it goes to some endpoint. */
async function whyNone(store: OperatorStore, endpoint: Endpoint, event: string): Promise<Why> {
  const [other] = await store.deliveries({ event, limit: 1 })
  if (!other) return because('not known', 'no endpoint wanted this event, it is not ingested yet, or it is kept no longer')
  if (other.network_id !== endpoint.network_id) return because('other network', `the event is of network ${other.network_id}`)
  if (endpoint.events && !endpoint.events.includes(other.event_type))
    return because('type not chosen', `the endpoint wants no ${other.event_type}`)
  const body = endpoint.filter && (await store.body(other.delivery))
  if (endpoint.filter && body && !wantsBody(endpoint.filter, body))
    return because('filter', 'the filter of the endpoint does not match the payload')
  return because(
    'not chosen then',
    'the endpoint was not there, or wanted other events or another audience, when the event was ingested',
  )
}

function whyDelivery(delivery: DeliveryStatus, status: EndpointStatus | undefined): Why {
  const { state, attempts, last_attempt_at, next_attempt_at } = delivery
  if (state === 'delivered') return because('delivered', `at ${last_attempt_at ?? 'an unknown time'}`)
  if (state === 'skipped') return because('skipped', 'an operator set it aside; replay makes it due again')
  if (state === 'dead') return because('dead', `no attempt is left after ${attempts}; replay makes it due again`)
  if (status?.disabled != null) return because('disabled', `${status.disabled}; it waits`)
  if (status?.state === 'off') return because('off', 'the endpoint is turned off; it waits')
  if (status?.set_aside) return because('set aside', status.unreadable ?? 'the endpoint is set aside')
  if (status?.unreadable != null) return because('key unreadable', status.unreadable)
  if (status?.circuit === 'open')
    return because('circuit open', `it waits until the endpoint answers; next probe ${status.next_probe_at ?? 'soon'}`)
  return because('pending', `due ${next_attempt_at ?? 'now'}`)
}
