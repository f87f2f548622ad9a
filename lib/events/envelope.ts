import type { Chance } from '../base/chance.ts'
import type { EventRecord } from '../outbox/record.ts'
import { projection } from '../records/projection.ts'
import type { Id } from '../storage/table.ts'
import { type CommittedEvent, type EventName, isForHost, payloadSchema } from './catalogue.ts'
import { subjectOf } from './subjects.ts'

/** An event before it has an envelope. */
export interface Emission {
  readonly name: EventName
  readonly payload: unknown
}

/**
 * Puts an event into its envelope (specification, section 6): `event_id`, `event_timestamp`, `event_type`, `payload`. The
 * body is written here once and never again.
 * @returns the record for the outbox, and the event as hooks get it
 * @param network_id the network in which it happened
 * @param now when it happened, as a timestamp
 * @param origin what the addresses of stored files begin with
 * @param chance makes the id of the event
 */
export function envelope(
  { name, payload }: Emission,
  {
    network_id,
    now,
    ids,
    origin,
    chance,
  }: {
    readonly network_id: Id
    readonly now: string
    readonly ids: 'string' | 'number'
    readonly origin: string
    readonly chance: Chance
  },
): { readonly record: EventRecord; readonly event: CommittedEvent } {
  const event_id = chance.uuid()
  const event_type = `${name}Hook`
  const shown = projection(payloadSchema(name), ids)(payload, origin)
  const subject = subjectOf(event_type, shown)
  const onWire = { event_id, event_timestamp: now, event_type, payload: shown }
  return {
    record: {
      kind: 'event',
      network_id,
      event_id,
      event_type,
      event_timestamp: now,
      audience: isForHost(name) ? 'host' : 'integration',
      ...(subject === undefined ? {} : { subject }),
      body: JSON.stringify(onWire),
    },
    // The payload is what its schema has made, and that is what the event's name stands for.
    event: { network_id, ...onWire } as CommittedEvent,
  }
}
