/** The administration of a relay, over its store. */
import { wantsBody } from '../../../lib/outbox/wanted.ts'
import type {
  CappedCount,
  DeliveryRow,
  EndpointRef,
  EndpointStatus,
  Explanation,
  NamedRef,
  RelayAdmin,
  ResendProgress,
  ResendRequest,
} from '../../../lib/relay/relay-admin.ts'
import { about, CommandFailure, UsageError } from '../../usage.ts'
import { openOperatorStore } from '../open-store.ts'
import type { Endpoint } from '../store/endpoint/relay-endpoint.ts'
import type { OperatorStore } from '../store/operator/operator-store.ts'
import { type RelayBackend, storeBackend } from './backend.ts'
import { countOf, detailOf, numberOf, pageOf } from './deliveries.ts'
import { checkChosen, checkKnown } from './filter.ts'
import { createResends, type Resending } from './resends.ts'
import { activityOf, statusOf } from './status.ts'

/** Why an endpoint is sent nothing that a person has disabled. */
const pausedByPerson = 'a person paused it'

/** The administration, what it works on, and the end of its connections. */
export interface OpenRelayAdmin extends RelayAdmin {
  /** The outbox of the relay, which finds the audit. */
  readonly outbox: string
  store(): Promise<OperatorStore>
  endpoint(ref: EndpointRef): Promise<Endpoint | undefined>
  /** The networks that a resend is about, or has reached. */
  networksOf(resend: NamedRef): readonly string[]
  /** A resend that records all its times at once. @throws UsageError */
  resendNow(request: ResendRequest, onPart: NonNullable<Resending['onPart']>): Promise<ResendProgress>
  close(): Promise<void>
}

/** What a request means that says little: a filter is about dead deliveries. */
export const completed = (request: ResendRequest): ResendRequest => (request.ids ? request : { state: 'dead', ...request })

export const filterOf = ({
  ids: _,
  all: __,
  limit: ___,
  per_second: ____,
  actor: _____,
  address: ______,
  ...filter
}: ResendRequest) => filter

/**
 * The administration of the relay, or relays, of an outbox.
 * @param backend the relay in this process; without it they are reached by their store
 */
export function relayAdmin(outbox: string, backend: RelayBackend = storeBackend): OpenRelayAdmin {
  let opened: Promise<OperatorStore> | undefined

  /** One connection for every call. One that cannot be opened is tried again by the next call. */
  function store(): Promise<OperatorStore> {
    opened ??= openOperatorStore(outbox).catch((error: unknown) => {
      opened = undefined
      throw error
    })
    return opened
  }

  const resends = createResends({ store, now: () => backend.now(), wake: () => backend.wake() })

  const endpoint = async ({ network_id, endpoint_id }: EndpointRef): Promise<Endpoint | undefined> =>
    (await (await store()).knownEndpoints()).find((each) => each.network_id === network_id && each.id === endpoint_id)

  /** Work on an endpoint that is there. */
  async function on<T>(ref: EndpointRef, work: (store: OperatorStore, endpoint: Endpoint) => Promise<T>): Promise<T | undefined> {
    const found = await endpoint(ref)
    if (!found) return undefined
    const done = await work(await store(), found)
    backend.wake()
    return done
  }

  async function resending(request: ResendRequest): Promise<Omit<Resending, 'ahead'>> {
    checkChosen(request, 'fields')
    const { ids, limit = Number.MAX_SAFE_INTEGER, per_second: perSecond } = request
    const { network_id } = request
    const filter = filterOf(completed(request))
    const named = { network_id, limit, perSecond }
    if (ids) {
      if (Object.keys(filter).some((name) => name !== 'network_id')) throw new UsageError('give either `ids` or a filter')
      if (network_id === undefined) throw new UsageError('`ids` need their `network_id`')
      const numbers = ids.flatMap((id) => numberOf(id) ?? [])
      return { ...named, searches: numbers.map((id) => ({ ...filter, id })), of: { count: numbers.length, exact: true } }
    }
    const opened = await store()
    await checkKnown(opened, filter)
    const { count, exact }: CappedCount = await countOf(opened, filter)
    return { ...named, searches: [{ ...filter, before: await opened.end() }], of: { count: Math.min(count, limit), exact } }
  }

  const { refuses } = backend
  return {
    ...{ outbox, store, endpoint, ...(refuses ? { refuses } : {}) },
    status: async ({ network_id }) => statusOf(await store(), network_id, backend),
    activity: async ({ network_id, minutes }) => activityOf(await store(), network_id, backend.now() - minutes * 60_000),
    list: async (given) => pageOf(await store(), given),
    count: async (filter) => countOf(await store(), filter),
    get: async (delivery) => detailOf(await store(), delivery),
    resend: async (request) => resends.begin({ ...(await resending(request)), ahead: false }).progress,
    async resendNow(request, onPart) {
      const resend = resends.begin({ ...(await resending(request)), ahead: true, onPart })
      await resend.finished
      return resend.progress
    },
    progress: async ({ network_id, id }) => resends.progressOf(network_id, id),
    networksOf: ({ network_id, id }) => resends.networksOf(network_id, id),
    stop: async ({ network_id, id }) => resends.stop(network_id, id),
    skip: ({ limit = Number.MAX_SAFE_INTEGER, ...filter }) =>
      on(filter, async (opened, found) => {
        await checkKnown(opened, filter)
        return { skipped: await opened.skip(found, filter, limit, backend.now()) }
      }),
    async explain({ event_id, ...ref }) {
      const found = await endpoint(ref)
      return found && explain(await store(), found, event_id)
    },
    test: ({ event_type, ...ref }) => on(ref, (opened, found) => backend.test(opened, found, event_type)),
    enable: (ref) =>
      on(ref, async (opened, found) => {
        await opened.enable(found.ref)
        return { enabled: true }
      }),
    disable: (ref) =>
      on(ref, async (opened, found) => {
        await opened.disable(found.ref, pausedByPerson)
        return { enabled: false }
      }),
    closeCircuit: ({ endpoint_id, network_id }) =>
      on({ endpoint_id, network_id }, async (opened, { ref }) => {
        const known = (await opened.endpointsOf(network_id)).find((each) => each.endpoint_id === endpoint_id)
        const was = known?.circuit ?? 'closed'
        const text = `an operator closed the circuit${was === 'open' ? '' : ', which was not open'}`
        const notice = { kind: 'operator.closed_circuit', network_id, endpoint_id, event_id: null, text } as const
        await opened.resetEndpoint(ref, backend.now(), notice)
        return { endpoint_id, network_id, was }
      }),
    async close() {
      resends.end()
      const store = await opened?.catch(() => undefined)
      await store?.close()
    },
  }
}

/**
 * The endpoint with this id.
 * @param network needed only where several networks have an endpoint with this id
 * @throws UsageError
 */
export async function findEndpoint(admin: OpenRelayAdmin, id: string, network: string | undefined): Promise<Endpoint> {
  const known = await (await admin.store()).knownEndpoints()
  const found = known.filter((each) => each.id === id && (network === undefined || each.network_id === network))
  const [endpoint] = found
  if (!endpoint)
    throw about(
      new CommandFailure(`there is no endpoint ${id}${network === undefined ? '' : ` of network ${network}`}: see status`),
      'networkId',
    )
  if (found.length > 1) throw new UsageError(`${found.length} networks have an endpoint ${id}: name one with --network-id`)
  return endpoint
}

type Why = Omit<Explanation, 'delivery'>

const because = (reason: string, text: string): Why => ({ reason, text })

async function explain(store: OperatorStore, endpoint: Endpoint, event_id: string): Promise<Explanation> {
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
