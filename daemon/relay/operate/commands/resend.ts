/** `folkmoot-relay resend`, `skip` and `close-circuit`: they work with a running relay, and without one. */
import { inputs } from '../../../../lib/relay/calls.ts'
import type { DeliveryState, ResendRequest } from '../../../../lib/relay/relay-admin.ts'
import { jsonLines } from '../../../json.ts'
import { commandActor } from '../../../user.ts'
import { completed, filterOf, type OpenRelayAdmin } from '../../admin/admin.ts'
import { checkChosen, type FilterFlags, fromFlags } from '../../admin/filter.ts'
import { actingAs, resendNow } from '../../admin/trail.ts'
import { type EndpointFlags, type InspectFlags, onEndpoint, withAdmin } from './inspect.ts'

export interface ResendFlags extends InspectFlags, FilterFlags {
  readonly limit?: string
  readonly perSecond?: string
  readonly all?: true
}

/** Deliveries that one command sends again at most, unless it says more. */
const mostResent = 10_000

/**
 * Makes dead deliveries (or others, with `--state`) due again. A running relay notices within a second.
 * @param progress called with how many of how many are done, after each part
 * @param choosesNetwork whether the network alone is a choice of deliveries
 */
export async function resend(
  flags: ResendFlags,
  progress: (done: number, of: number) => void,
  choosesNetwork = true,
): Promise<string> {
  const { network_id, ...others } = fromFlags(inputs.resend, flags)
  const request = { limit: mostResent, ...others, ...(network_id === undefined ? {} : { network_id }) }
  checkChosen(choosesNetwork ? request : others, 'flags')
  return withAdmin(flags, async (admin) => {
    const { done } = await resendNow(admin, commandActor(), request, progress)
    if (flags.json) return jsonLines([{ resent: done }])
    if (done === 0) return `0 deliveries are due again: ${await whyNone(admin, request)}\n`
    return `${done} ${done === 1 ? 'delivery is' : 'deliveries are'} due again\n`
  })
}

/** In which states the chosen deliveries are, if none of them is in the state that is resent. */
async function whyNone(admin: OpenRelayAdmin, request: ResendRequest): Promise<string> {
  const filter = filterOf(completed(request))
  const found: string[] = []
  for (const state of states.filter((each) => each !== filter.state)) {
    const { count } = await admin.count({ ...filter, state })
    const remedy = state === 'pending' ? 'due already' : `--state ${state} sends ${count === 1 ? 'it' : 'them'} again`
    if (count > 0) found.push(`${count} ${count === 1 ? 'is' : 'are'} ${state} (${remedy})`)
  }
  const none = `none of the chosen deliveries is ${filter.state}`
  return found.length === 0 ? 'no delivery matches' : `${none}; ${found.join(', ')}`
}

const states: readonly DeliveryState[] = ['pending', 'delivered', 'dead', 'skipped']

export interface SkipFlags extends InspectFlags, FilterFlags {
  readonly limit?: string
}

/** Works with a running relay, which notices within a second, and without one. @throws UsageError */
export const skip = (flags: SkipFlags): Promise<string> =>
  onEndpoint('skip', flags, async (admin, ref) => {
    const request = fromFlags(inputs.skip, { ...flags, networkId: ref.network_id })
    const { skipped = 0 } = (await actingAs(admin, commandActor()).skip(request)) ?? {}
    if (flags.json) return jsonLines([{ skipped }])
    if (skipped === 0) return '0 deliveries are skipped: none of the chosen deliveries is pending\n'
    const [whose, which] = skipped === 1 ? ['delivery is', 'it'] : ['deliveries are', 'them']
    const undoing = `resend --endpoint-id ${ref.endpoint_id} --state skipped`
    return `${skipped} ${whose} skipped; ${undoing} makes ${which} due again\n`
  })

/** Works with a running relay, which notices within a second, and without one. @throws UsageError when there is no such endpoint */
export const closeCircuit = (flags: EndpointFlags): Promise<string> =>
  onEndpoint('close-circuit', flags, async (admin, ref) => {
    const closed = await actingAs(admin, commandActor()).closeCircuit(ref)
    if (flags.json) return jsonLines([closed ?? ref])
    return closed?.was === 'open' ? 'the circuit is closed now; sending begins slowly\n' : 'the circuit was not open\n'
  })
