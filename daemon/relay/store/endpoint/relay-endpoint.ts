/** An endpoint of the relay, and the state of it that is kept over restarts. */
import type { ReplacedSecret, StoredAttributes } from '../../../../lib/outbox/endpoint-attributes.ts'

/** An endpoint as it is now. Its credentials are as in the outbox: encrypted, or in plain text. */
export interface Endpoint extends Omit<StoredAttributes, 'old_keys' | 'old_secrets'> {
  readonly ref: number
  readonly id: string
  readonly network_id: string
  /** Tokens and secrets that were replaced, newest first; each holds until its time. */
  readonly old_keys: readonly ReplacedSecret[]
  readonly old_secrets: readonly ReplacedSecret[]
  /** Why the relay itself stopped sending to it; an upsert of the outbox lifts that. */
  readonly disabled: string | null
  /** What a relay must know to send to it, in words. */
  readonly requires: readonly string[]
  /** Kept while a relay does not know one of these words; null: all were known when it was defined. */
  readonly set_aside: UnsupportedDefinition | null
  /** How often it was reset: its circuit closed, and its pause ended. */
  readonly fresh_starts: number
}

/** An endpoint that a relay did not understand: a later version of the relay takes it from here. */
export interface UnsupportedDefinition {
  /** Events ingested from then on were not decided by its filter, in milliseconds of the relay's timeline. */
  readonly since: number
  /** Its record as it was in the outbox; missing where its columns are right. */
  readonly record?: unknown
}

/** The state of its circuit. Times are milliseconds of the relay's timeline. */
export interface CircuitRecord {
  readonly open: boolean
  /** When it last opened, in milliseconds of the relay's timeline. */
  readonly openedAt: number
  /** How often it opened in a row. */
  readonly trips: number
  /** Consecutive failures while closed. */
  readonly failures: number
  /** Up to two events that failed in a row. */
  readonly witnesses: readonly number[]
  /** The event of the last probe. */
  readonly probed: number | null
  /** Whether that was the newest event; missing in what earlier versions wrote. */
  readonly newest?: boolean
  /** While open: when the next probe is sent, if something is due then; missing in what earlier versions wrote. */
  readonly readyAt?: number
  /** While closed: since when, if it was open before; missing in what earlier versions wrote. */
  readonly closedAt?: number
}

/** The notices that the host got about the circuit. */
export interface CircuitNewsRecord {
  /** Whether the last announcement was that it opened. */
  readonly open: boolean
  /** When an opening was last announced, in milliseconds of the relay's timeline. */
  readonly openedAt: number | null
  /** Openings since then that were not announced. */
  readonly omitted: number
}

/** The relay's state of an endpoint; kept over restarts. */
export interface EndpointState {
  readonly breaker: CircuitRecord
  /** Not before this time: the receiver requested it. */
  readonly pausedUntil: number
  readonly lastSuccess: number | null
  /** The first failure since the last success, and the latest. */
  readonly failingSince: number | null
  readonly lastFailure: number | null
  /** Why the latest attempt that failed did; missing in what earlier versions wrote. */
  readonly lastError?: string | null
  /** Whether the host was reminded of these failures; missing in what earlier versions wrote. */
  readonly reminded?: boolean
  /** The resets of the endpoint before this state. */
  readonly fresh_starts?: number
  /** The notices that the host got about its circuit; missing in what earlier versions wrote. */
  readonly news?: CircuitNewsRecord
  /** Why its key and secrets cannot be decrypted, and nothing is sent to it; missing in what earlier versions wrote. */
  readonly unreadable?: string | null
}

export interface StoredEndpoint {
  readonly endpoint: Endpoint
  readonly state: EndpointState | undefined
}
