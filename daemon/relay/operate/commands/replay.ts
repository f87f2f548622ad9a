/** `folkmoot-relay replay`: deliveries become due again. It works with a running relay, and without one. */
import type { DeliveryState } from '../../../../lib/relay/relay-view.ts'
import { jsonLines } from '../../../json.ts'
import { commandActor } from '../../../user.ts'
import { systemClock } from '../../clock.ts'
import type { OperatorStore, Selection } from '../../store/operator/operator-store.ts'
import { outboxOf } from '../settings/read-settings.ts'
import { type ReplayFlags, replayOf } from '../tasks/delivery-selection.ts'
import { replay as replayAudited } from '../tasks/operator-tasks.ts'
import { choosing, type InspectFlags, withStore } from './inspect.ts'

/**
 * Makes dead deliveries (or others, with `--status`) due again. A running relay notices within a second.
 * @param progress told how many of how many are done, after each part
 * @param choosesNetwork whether the network alone is a choice of deliveries
 */
export async function replay(
  flags: InspectFlags & ReplayFlags,
  progress: (done: number, of: number) => void,
  choosesNetwork = true,
): Promise<string> {
  const { network, ...others } = choosing(flags)
  if (!choosesNetwork) replayOf(others, '--')
  const chosen = replayOf(network === undefined ? others : { ...others, network }, '--')
  return withStore(flags, async (store) => {
    const asked = { store, now: systemClock.now(), outbox: outboxOf(flags.outbox), actor: commandActor() }
    const count = await replayAudited(asked, chosen, progress)
    if (flags.json) return jsonLines([{ replayed: count }])
    if (count === 0) return `0 deliveries are due again: ${await whyNone(store, chosen.selection)}\n`
    return `${count} ${count === 1 ? 'delivery is' : 'deliveries are'} due again\n`
  })
}

/** In which states the chosen deliveries are, if none of them is in the state that is replayed. */
async function whyNone(store: OperatorStore, selection: Selection): Promise<string> {
  const { state = 'dead' } = selection
  const found: string[] = []
  for (const other of states.filter((each) => each !== state)) {
    const count = await store.count({ ...selection, state: other })
    const remedy = other === 'pending' ? 'due already' : `--status ${other} sends ${count === 1 ? 'it' : 'them'} again`
    if (count > 0) found.push(`${count} ${count === 1 ? 'is' : 'are'} ${other} (${remedy})`)
  }
  const none = `none of the chosen deliveries is ${state}`
  return found.length === 0 ? 'no delivery matches' : `${none}; ${found.join(', ')}`
}

const states: readonly DeliveryState[] = ['pending', 'delivered', 'dead', 'skipped']
