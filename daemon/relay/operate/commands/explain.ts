/** `folkmoot-relay explain`: why an event was delivered to an endpoint, or was not. */
import { jsonLines } from '../../../json.ts'
import { UsageError } from '../../../usage.ts'
import { type EndpointFlags, onEndpoint } from './inspect.ts'

export interface ExplainFlags extends EndpointFlags {
  readonly eventId?: string
}

/** Works with a running relay, and without one. @throws UsageError */
export async function explain(flags: ExplainFlags): Promise<string> {
  const { eventId: event_id, endpointId } = flags
  if (!event_id || !endpointId) throw new UsageError('explain needs --event-id and --endpoint-id')
  return onEndpoint('explain', flags, async (admin, ref) => {
    const found = await admin.explain({ ...ref, event_id })
    if (flags.json) return jsonLines([{ event_id, ...ref, ...found }])
    const lines = (found?.delivery?.history ?? []).map(
      ({ number, at, outcome, status, reason, milliseconds }) =>
        `  attempt ${number} at ${at}: ${[outcome, status, reason].filter((each) => each !== null).join(' ')}, ${milliseconds} ms`,
    )
    return `${[`${found?.reason}: ${found?.text}`, ...lines.reverse()].join('\n')}\n`
  })
}
