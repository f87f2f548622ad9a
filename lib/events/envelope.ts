import type { Chance } from '../base/chance.ts'
import { uuidAt } from '../base/uuid.ts'
import type { EventRecord } from '../outbox/record.ts'
import type { RecordWriter } from '../records/json/writer.ts'
import type { Id } from '../storage/table.ts'
import { type CommittedEvent, type EventName, fieldsOfUpdate, isForHost, payloadSchema, subjectOf } from './catalogue.ts'
import { type Change, changedFields } from './changed.ts'

/** An event before it has an envelope. */
export interface Emission {
  readonly name: EventName
  readonly payload: unknown
  /** Of an update: the record before and after. */
  readonly change?: Change | undefined
  /** Of an update of the host, which has no such records: the names of its changed fields. */
  readonly changed?: readonly string[]
  /** Its id, if the caller needs it before the envelope; made with the envelope by default. */
  readonly event_id?: string
}

/** The id of an event. Stores with an index of these ids write to its end, and not all over it. */
export const newEventId = (now: string, chance: Chance): string => uuidAt(Date.parse(now), chance.uuid())

/**
 * Puts an event into its envelope (interface.md, 10.2): `event_id`, `event_timestamp`, `event_type`, `payload`. The
 * body is written here once and never again.
 * @returns the record for the outbox
 * @param network_id the network in which it happened
 * @param now when it happened, as a timestamp
 * @param writer writes the payload
 * @param chance makes the id of the event
 */
export function envelope(
  { name, payload, change, changed: named = [], event_id: given }: Emission,
  {
    network_id,
    now,
    writer,
    chance,
  }: { readonly network_id: Id; readonly now: string; readonly writer: RecordWriter; readonly chance: Chance },
): EventRecord {
  const event_id = given ?? newEventId(now, chance)
  const event_type = `${name}Hook`
  const subject = subjectOf(name, payload)
  const audience = isForHost(name) ? 'host' : 'integration'
  const text = writer.text(payloadSchema(name), payload)
  // Ids, times and names have no character that JSON escapes.
  const body = `{"event_id":"${event_id}","event_timestamp":"${now}","event_type":"${event_type}","payload":${text}}`
  const facts = { kind: 'event', network_id, event_id, event_type, event_timestamp: now, audience } as const
  const changed = change ? changedFields(fieldsOfUpdate(name), change) : named
  return {
    ...facts,
    ...(subject === undefined ? {} : { subject }),
    ...(changed.length === 0 ? {} : { changed }),
    body,
  }
}

/** An event as hooks get it, from its record. */
export function committedEvent({ network_id, body }: EventRecord): CommittedEvent {
  // The payload is what its schema has made, and that is what the event's name stands for.
  return { network_id, ...JSON.parse(body) } as CommittedEvent
}
