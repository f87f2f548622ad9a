/** `folkmoot-relay replay`: deliveries become due again. It works beside a running relay, and without one. */
import type { Work } from '../../../../lib/host/audit/work.ts'
import { jsonLines } from '../../../json.ts'
import { systemClock } from '../../clock.ts'
import type { OperatorStore, Selection } from '../../store/operator/operator-store.ts'
import { outboxOf } from '../config.ts'
import { checkKnown, type ReplayFlags, replayOf } from '../selection.ts'
import { audited, selectionDetails, subjectOf } from '../trail.ts'
import { choosing, type InspectFlags, withStore } from './inspect.ts'

/**
 * Makes dead deliveries (or others, with `--status`) due again. A running relay notices within a second.
 * @param progress told how many of how many are done, after each part
 */
export async function replay(flags: InspectFlags & ReplayFlags, progress: (done: number, of: number) => void): Promise<string> {
  const { selection, perSecond } = replayOf(choosing(flags), '--')
  return withStore(flags, async (store) => {
    await checkKnown(store, selection)
    const whole = Math.min(await store.count(selection), selection.limit)
    const works = await worksOf(store, selection, perSecond)
    const networks = new Map((await store.knownEndpoints()).map(({ ref, network_id }) => [ref, network_id]))
    const resent = new Map<string | undefined, number>()
    const due = (endpoints: readonly number[]): void => {
      for (const ref of endpoints) resent.set(networks.get(ref), (resent.get(networks.get(ref)) ?? 0) + 1)
    }
    const resultOn = ({ network }: Work) => ({ resent: resent.get(network) ?? 0 })
    const pace = { perSecond, due, progress: (done: number) => progress(done, whole) }
    const count = await audited(outboxOf(flags.outbox), works, {
      run: () => store.replay(selection, systemClock.now(), pace),
      done: (_, work) => resultOn(work),
      before: resultOn,
    })
    return flags.json
      ? jsonLines([{ replayed: count }])
      : `${count} ${count === 1 ? 'delivery is' : 'deliveries are'} due again\n`
  })
}

/** The work on each network that has such deliveries. */
async function worksOf(store: OperatorStore, selection: Selection, perSecond: number | undefined): Promise<readonly Work[]> {
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
