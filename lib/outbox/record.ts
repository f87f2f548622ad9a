/**
 * What stands in the outbox. The relay needs nothing else: no shared database, no second configuration.
 */
import type { Id } from '../storage/table.ts'

/** For whom an event is: `integration` for the webhooks of the interface, `host` for the host application alone (mail to send). */
export type Audience = 'integration' | 'host'

/** One event, once, however many endpoints it goes to. */
export interface EventRecord {
  readonly kind: 'event'
  readonly network_id: Id
  /** Unique, the same on every attempt and at every endpoint; receivers de-duplicate by it. */
  readonly event_id: string
  /** Ends in `Hook`, as on the wire. */
  readonly event_type: string
  /** ISO 8601, UTC. */
  readonly event_timestamp: string
  readonly audience: Audience
  /** What it is about (`member:1001`): see `order`. Missing in what earlier versions wrote, and where a payload names nothing. */
  readonly subject?: string
  /** The whole webhook body, exactly as it goes over the wire. Never parsed and written again. */
  readonly body: string
}

/** A key or a signing secret that was replaced and holds beside the new one for a time. */
export interface Replaced {
  readonly value: string
  /** ISO 8601, UTC. Relays stop using it at this time by their own clock. */
  readonly until: string
}

/** A webhook endpoint as it is from now on. */
export interface EndpointUpsert {
  readonly kind: 'endpoint'
  readonly action: 'upsert'
  readonly id: Id
  readonly network_id: Id
  /** Its name in lists and logs, where it has one. */
  readonly name?: string | null
  readonly url: string
  /** Sent as `Authorization: Bearer <key>`. */
  readonly key: string
  /** Signing secrets (`whsec_…`), newest first; none: unsigned. */
  readonly secrets: readonly string[]
  /** Keys that were replaced, newest first: tried when the key is refused. Missing: none. */
  readonly old_keys?: readonly Replaced[]
  /** Secrets that were replaced, newest first: they sign as well. Missing: none. */
  readonly old_secrets?: readonly Replaced[]
  /** Event types (`PostCreatedHook`) that it wants; null: every one of its audience. */
  readonly events: readonly string[] | null
  readonly audience: Audience
  readonly enabled: boolean
  /** `fifo`: the oldest event first, and never two at once. `subject`: the same for the events about one subject. */
  readonly order: 'none' | 'fifo' | 'subject'
  /** At most this many deliveries a second; null: no limit. */
  readonly rate_per_second: number | null
}

/** A webhook endpoint that is gone. */
export interface EndpointRemoval {
  readonly kind: 'endpoint'
  readonly action: 'remove'
  readonly id: Id
  readonly network_id: Id
}

export type OutboxRecord = EventRecord | EndpointUpsert | EndpointRemoval
