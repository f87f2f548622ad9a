/** What the control does for a caller with its key, in addition to the calls of a panel. */
import { UsageError } from '../../../usage.ts'
import { openOperatorStore } from '../../open-store.ts'
import type { Relay } from '../../relay.ts'
import type { Endpoint } from '../../store/endpoint/relay-endpoint.ts'
import type { OperatorStore } from '../../store/operator/operator-store.ts'
import { checkKnown, replayOf, selectionOf, skipOf } from '../tasks/delivery-selection.ts'
import { closeCircuit, replay, skip } from '../tasks/operator-tasks.ts'
import type { Asker } from '../tasks/trail.ts'
import { endpointIn } from '../view/running-endpoint.ts'
import { switchAudited, testAudited } from './control-changes.ts'

/** A call, as the control has read it. */
export interface ControlCall {
  readonly query: Readonly<Record<string, string>>
  /** Reads the JSON object that was sent. */
  readonly body: () => Promise<Readonly<Record<string, unknown>>>
  readonly relay: Relay
  readonly asker: Asker
}

/** @returns the body of the answer; `undefined` if there is no such endpoint. @throws UsageError */
type Handle = (call: ControlCall, params: Readonly<Record<string, string>>) => Promise<object | undefined>

const route = (method: 'GET' | 'POST', path: string, handle: Handle, takesQuery = false) => ({ method, path, handle, takesQuery })

async function withStore<T>({ asker }: ControlCall, work: (store: OperatorStore) => Promise<T>): Promise<T> {
  const store = await openOperatorStore(asker.outbox)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Work on one endpoint, which takes no body. */
const onEndpoint = (action: string, work: (call: ControlCall, endpoint: Endpoint) => Promise<object>) =>
  route('POST', `networks/:network/endpoints/:id/${action}`, async (call, { network = '', id = '' }) => {
    if (Object.keys(await call.body()).length > 0) throw new UsageError(`${action} takes no body`)
    const endpoint = await endpointIn(call.relay, network, id)
    return endpoint && work(call, endpoint)
  })

const switching = (wanted: 'enable' | 'disable') =>
  onEndpoint(wanted, async ({ relay, asker }, endpoint) => {
    await switchAudited(relay, endpoint, wanted, asker)
    return { enabled: wanted === 'enable' }
  })

export const controlRoutes = [
  route('GET', 'status', (call) =>
    withStore(call, async (store) => ({
      relays: await store.relays(),
      endpoints: await store.endpoints(),
      notices: await store.notices(100),
    })),
  ),
  route(
    'GET',
    'deliveries',
    (call) =>
      withStore(call, async (store) => {
        const selection = selectionOf(call.query, '')
        await checkKnown(store, selection)
        return { items: await store.deliveries(selection) }
      }),
    true,
  ),
  route('POST', 'replay', async (call) => {
    const { relay, asker } = call
    const chosen = replayOf(await call.body(), '')
    const replayed = await withStore(call, (store) => replay({ ...asker, store, now: relay.now() }, chosen))
    relay.scheduler.refresh()
    return { replayed }
  }),
  route('POST', 'networks/:network/endpoints/:id/skip', async (call, { network = '', id = '' }) => {
    const { relay, asker } = call
    const { endpoint, network: other, ...given } = await call.body()
    if (endpoint !== undefined || other !== undefined)
      throw new UsageError('leave out `endpoint` and `network`: the path names them')
    const chosen = skipOf({ ...given, endpoint: id, network }, '')
    if (!(await endpointIn(relay, network, id))) return undefined
    return { skipped: await withStore(call, (store) => skip({ ...asker, store, now: relay.now() }, chosen)) }
  }),
  onEndpoint('test', ({ relay, asker }, endpoint) => testAudited(relay, endpoint, asker)),
  switching('enable'),
  switching('disable'),
  onEndpoint('close-circuit', (call, { id, network_id }) =>
    withStore(call, (store) => closeCircuit({ ...call.asker, store, now: call.relay.now() }, id, network_id)),
  ),
]
