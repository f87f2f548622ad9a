/** `folkmoot-relay close-circuit`: resumes sending to an endpoint immediately. */
import { jsonLines } from '../../../json.ts'
import { commandActor } from '../../../user.ts'
import { actingAs } from '../../admin/trail.ts'
import { type EndpointFlags, onEndpoint } from './inspect.ts'

/** Works with a running relay, which notices within a second, and without one. @throws UsageError when there is no such endpoint */
export const closeCircuit = (flags: EndpointFlags): Promise<string> =>
  onEndpoint('close-circuit', flags, async (admin, ref) => {
    const closed = await actingAs(admin, commandActor()).closeCircuit(ref)
    if (flags.json) return jsonLines([closed ?? ref])
    return closed?.was === 'open' ? 'the circuit is closed now; sending begins slowly\n' : 'the circuit was not open\n'
  })
