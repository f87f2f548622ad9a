/** Work of operators on the store with its lines of the audit, asked for by a command or over the control port. */
import type { Work } from '../../../../lib/host/audit/audited-work.ts'
import type { OperatorStore, Selection } from '../../store/operator/operator-store.ts'
import { checkKnown, type Replay, type Skip } from './delivery-selection.ts'
import { type CircuitClosed, closeCircuitOf, findEndpoint, skipIn } from './on-endpoint.ts'
import { type Asker, audited, selectionDetails, subjectOf } from './trail.ts'

/** Where the work is done, when, and on whose behalf. */
export interface Asked extends Asker {
  readonly store: OperatorStore
  readonly now: number
}

/**
 * Makes deliveries due again, and returns their number.
 * @param progress called with how many of how many are done, after each part
 * @throws UsageError when the selection names something unknown
 */
export async function replay(
  { store, now, ...asker }: Asked,
  { selection, perSecond }: Replay,
  progress?: (done: number, of: number) => void,
): Promise<number> {
  await checkKnown(store, selection)
  const whole = progress ? Math.min(await store.count(selection), selection.limit) : 0
  const works = await replayWorks(store, selection, perSecond)
  const networks = new Map((await store.knownEndpoints()).map(({ ref, network_id }) => [ref, network_id]))
  const resent = new Map<string | undefined, number>()
  const due = (endpoints: readonly number[]): void => {
    for (const ref of endpoints) resent.set(networks.get(ref), (resent.get(networks.get(ref)) ?? 0) + 1)
  }
  const resultOn = ({ network }: Work) => ({ resent: resent.get(network) ?? 0 })
  return audited(asker, works, {
    run: () => store.replay(selection, now, { perSecond, due, progress: (done) => progress?.(done, whole) }),
    done: (_, work) => resultOn(work),
    before: resultOn,
  })
}

/** The work on each network that has such deliveries. */
async function replayWorks(store: OperatorStore, selection: Selection, perSecond: number | undefined): Promise<readonly Work[]> {
  const endpoints = (await store.knownEndpoints()).filter(
    ({ id, network_id }) => [undefined, id].includes(selection.endpoint) && [undefined, network_id].includes(selection.network),
  )
  const works: Work[] = []
  for (const network of new Set(endpoints.map(({ network_id }) => network_id))) {
    const matched = await store.count({ ...selection, network })
    if (matched === 0) continue
    const [only] = endpoints.filter(({ network_id }) => network_id === network)
    const subject = selection.endpoint !== undefined && only ? subjectOf(only) : ({ type: 'network', id: network } as const)
    const details = {
      filter: selectionDetails(selection),
      matched,
      ...(perSecond === undefined ? {} : { per_second: perSecond }),
    }
    works.push({ network, action: 'deliveries.resent', subject, details })
  }
  return works
}

/**
 * Sets waiting deliveries aside, and returns their number.
 * @throws UsageError when there is no such endpoint or event type
 */
export async function skip({ store, now, ...asker }: Asked, chosen: Skip): Promise<number> {
  const { endpoint } = await findEndpoint(store, chosen.endpoint, chosen.network)
  await checkKnown(store, chosen.selection)
  const { endpoint: _, network: __, ...filter } = selectionDetails(chosen.selection)
  const { network_id: network } = endpoint
  const work: Work = { network, action: 'deliveries.skipped', subject: subjectOf(endpoint), details: { filter } }
  return audited(asker, [work], {
    run: () => skipIn(store, chosen, now),
    done: (count) => ({ skipped: count }),
  })
}

/**
 * Closes the circuit of an endpoint.
 * @param network needed only where several networks have an endpoint with this id
 * @throws UsageError when there is no such endpoint
 */
export async function closeCircuit(
  { store, now, ...asker }: Asked,
  id: string,
  network: string | undefined,
): Promise<CircuitClosed> {
  const { endpoint } = await findEndpoint(store, id, network)
  const work: Work = { network: endpoint.network_id, action: 'endpoint.circuit_closed', subject: subjectOf(endpoint) }
  return audited(asker, [work], {
    run: () => closeCircuitOf(store, id, network, now),
    done: ({ was }) => ({ was }),
  })
}
