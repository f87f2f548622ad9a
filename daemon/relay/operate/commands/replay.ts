/** `folkmoot-relay replay`: deliveries become due again. It works with a running relay, and without one. */
import { jsonLines } from '../../../json.ts'
import { commandActor } from '../../../user.ts'
import { systemClock } from '../../clock.ts'
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
    return flags.json
      ? jsonLines([{ replayed: count }])
      : `${count} ${count === 1 ? 'delivery is' : 'deliveries are'} due again\n`
  })
}
