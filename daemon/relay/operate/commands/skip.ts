/** `folkmoot-relay skip`: waiting deliveries are set aside. */

import { inputs } from '../../../../lib/relay/calls.ts'
import { jsonLines } from '../../../json.ts'
import { commandActor } from '../../../user.ts'
import { type FilterFlags, fromFlags } from '../../admin/filter.ts'
import { actingAs } from '../../admin/trail.ts'
import { type InspectFlags, onEndpoint } from './inspect.ts'

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
