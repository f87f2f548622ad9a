/** Whether an event is what the filter of an endpoint wants. */
import { type Filter, matchesFilter } from './filter.ts'
import type { Audience, EventRecord } from './record.ts'
import { parsedBody } from './text.ts'

const payloadOf = (body: unknown): unknown =>
  typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>)['payload'] : undefined

/** By the body as it was parsed when the record was read. */
const wantsEvent = (filter: Filter, event: EventRecord): boolean =>
  matchesFilter(filter, payloadOf(parsedBody(event)), event.changed)

/** What decides which events an endpoint gets. */
interface Receiver {
  readonly audience: Audience
  readonly events: readonly string[] | null
  readonly filter: Filter | null
}

/** Whether an event is for an endpoint: for its audience, of a type that it wants, and what its filter wants. A disabled one's events wait. */
export const wants = ({ audience, events, filter }: Receiver, event: EventRecord): boolean =>
  audience === event.audience &&
  (events === null || events.includes(event.event_type)) &&
  (filter === null || wantsEvent(filter, event))

/** By the text of a body and the changed fields, as they are stored. A damaged body is kept: the sender sees that. */
export function wantsBody(filter: Filter, body: string, changed: readonly string[]): boolean {
  try {
    return matchesFilter(filter, payloadOf(JSON.parse(body)), changed)
  } catch {
    return true
  }
}
