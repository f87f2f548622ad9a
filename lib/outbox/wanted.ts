/** Whether an event is what the filter of an endpoint wants. */
import { type Filter, matchesFilter } from './filter.ts'
import type { EventRecord } from './record.ts'
import { parsedBody } from './text.ts'

const payloadOf = (body: unknown): unknown =>
  typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>)['payload'] : undefined

/** By the body as it was parsed when the record was read. */
export const wantsEvent = (filter: Filter, event: EventRecord): boolean => matchesFilter(filter, payloadOf(parsedBody(event)))

/** By the text of a body, as it is stored. One that is damaged is kept: whoever sends it sees that. */
export function wantsBody(filter: Filter, body: string): boolean {
  try {
    return matchesFilter(filter, payloadOf(JSON.parse(body)))
  } catch {
    return true
  }
}
