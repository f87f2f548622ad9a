/** The records of the outbox. The relay needs nothing else: no shared database, no second configuration. */
import type { Id } from '../base/ids.ts'
import type { RecordedAttributes, ReplacedSecret } from './endpoint-attributes.ts'
import type { Audience } from './values.ts'

export type { Audience, ReplacedSecret }

/** One event, once, however many endpoints it goes to. */
export interface EventRecord {
  /** What the record is: an event. */
  readonly kind: 'event'
  /** The network that the event is from. */
  readonly network_id: Id
  /** Unique, the same on every attempt and at every endpoint; receivers de-duplicate by it. */
  readonly event_id: string
  /** Ends in `Hook`, as on the wire. */
  readonly event_type: string
  /** ISO 8601, UTC. */
  readonly event_timestamp: string
  /** Which endpoints get it: those of integrations, or the host's own. */
  readonly audience: Audience
  /** The subject (`member:1001`): see `order`. Missing if a payload names none: such events share one. */
  readonly subject?: string
  /** The names of the public fields that an update has changed. Missing: none, or not known. */
  readonly changed?: readonly string[]
  /** The trace that it belongs to, as a `traceparent` of W3C, if the API is traced. A relay ignores any other text. */
  readonly trace?: string
  /** The whole webhook body, exactly as it goes over the wire. Never parsed and written again. */
  readonly body: string
}

/** A webhook endpoint as it is from now on. */
export interface EndpointUpsert extends RecordedAttributes {
  /** What the record is: the state of an endpoint. */
  readonly kind: 'endpoint'
  /** The endpoint is new or has changed. */
  readonly action: 'upsert'
  /** The endpoint. */
  readonly id: Id
  /** The network whose events it gets. */
  readonly network_id: Id
  /** The capabilities that a relay needs to send to it (`requires.ts`). Missing: nothing beyond the attributes of the first version. */
  readonly requires?: readonly string[]
}

/** A webhook endpoint that is gone. */
export interface EndpointRemoval {
  /** What the record is: the state of an endpoint. */
  readonly kind: 'endpoint'
  /** The endpoint was removed: a relay sends nothing more to it. */
  readonly action: 'remove'
  /** The endpoint. */
  readonly id: Id
  /** The network that it belonged to. */
  readonly network_id: Id
}

/** A person who was erased: the relay keeps no done deliveries of events that name one of these records. */
export interface ErasureRecord {
  /** What the record is: the erasure of a person. */
  readonly kind: 'erasure'
  /** The network that the person was in. */
  readonly network_id: Id
  /** The member, or invites to them: at least one, at most `mostErasedIds`. */
  readonly ids: readonly Id[]
}

/** Ids of one erasure. */
export const mostErasedIds = 100

/** One thing that a commit hands to the relay. */
export type OutboxRecord = EventRecord | EndpointUpsert | EndpointRemoval | ErasureRecord
