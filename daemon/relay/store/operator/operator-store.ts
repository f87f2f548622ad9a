/** The relay's store for an operator, as an interface, and what an operator sees. */
import type { EventRecord } from '../../../../lib/outbox/record.ts'
import type { Positions } from '../../../../lib/outbox/source.ts'
import type { AttemptRow, DeliveryRow, DeliveryState } from '../../../../lib/relay/relay-view.ts'
import type { Endpoint } from '../endpoint/relay-endpoint.ts'
import type { Notice } from '../notice.ts'

/** One endpoint for a person: no key, no secret, and of its URL the origin only. */
export interface EndpointStatus {
  /** The endpoint, as `community.endpoints` lists it. */
  readonly endpoint_id: string
  /** The network whose events it gets. */
  readonly network_id: string
  /** A name that the host gave; null if it gave none. */
  readonly name: string | null
  /** Scheme, host and port of its URL: `https://example.org`. */
  readonly origin: string
  /** Enough of its path to tell endpoints of one origin apart: the end of it. A path may be a secret. */
  readonly path: string
  /** `off`: turned off by the host. `disabled`: stopped by the relay or an operator. Its events wait in both cases. */
  readonly state: 'active' | 'off' | 'disabled'
  /** Why the relay stopped sending to it. */
  readonly disabled: string | null
  /** `open` after failures in a row: nothing but a probe is sent now and then, until one succeeds. */
  readonly circuit: 'closed' | 'open'
  /** Deliveries that are not done yet: new ones, and those that wait for a retry. */
  readonly pending: number
  /** Deliveries without an attempt left. A replay sends them again. */
  readonly dead: number
  /** When an attempt last got a 2xx. ISO 8601, UTC; null before the first. */
  readonly last_success_at: string | null
  /** When its failures in a row began. ISO 8601, UTC; null while it works. */
  readonly failing_since: string | null
  /** When the oldest event that waits for it was ingested. */
  readonly oldest_pending_at: string | null
  /** When something is sent to it next: when that is due, and not before the next probe of an open circuit. */
  readonly next_attempt_at: string | null
  /** When an open circuit lets a probe through, at the latest. */
  readonly next_probe_at: string | null
  /** Why the latest attempt failed; null once one was delivered. */
  readonly last_error: string | null
  /** Why its key and secrets cannot be decrypted, or it is set aside, and nothing is sent to it. */
  readonly unreadable: string | null
  /** Whether it needs what this version of the relay does not know. */
  readonly set_aside: boolean
}

/** A delivery as the panel shows it, too. */
export interface DeliveryStatus extends Omit<DeliveryRow, 'id'> {
  readonly delivery: number
  readonly network_id: string
}

export interface NoticeStatus {
  readonly at: string
  readonly kind: string
  readonly network_id: string | null
  readonly endpoint_id: string | null
  readonly event_id: string | null
  readonly text: string
}

/** Which deliveries; every condition that is given must hold. */
export interface Selection {
  readonly state?: DeliveryState
  readonly endpoint?: string
  readonly network?: string
  readonly event?: string
  /** An event type, as on the wire. */
  readonly type?: string
  /** Ingested at or after, and before: milliseconds since 1970. */
  readonly since?: number
  readonly until?: number
  /** The latest attempt took at least so many milliseconds. */
  readonly slower?: number
  readonly limit: number
}

export interface ReplayPace {
  readonly perSecond?: number | undefined
  readonly progress?: ((replayed: number) => void) | undefined
  /** Is given the ref of the endpoint of each delivery that became due. */
  readonly due?: (endpoints: readonly number[]) => void
}

/** Which deliveries of one network; every condition that is given must hold. */
export interface DeliverySearch extends Omit<Selection, 'limit' | 'network'> {
  readonly network: string
  readonly id?: number
  /** Of the latest attempt. */
  readonly outcome?: string
  readonly status?: number
  /** Ids below this one. */
  readonly before?: number
}

/** Deliveries of one endpoint whose latest attempt was within a slot of time. */
export interface Slot {
  readonly endpoint_id: string
  /** Its beginning: milliseconds since 1970. */
  readonly at: number
  readonly delivered: number
  readonly failed: number
}

/** Deliveries of a part of a search. */
export interface Walked {
  readonly found: readonly DeliveryStatus[]
  /** The id up to which they are found. */
  readonly reached: number
  /** Rows that were looked through for them, at most. */
  readonly looked: number
}

/** A delivery that becomes due. */
export interface Due {
  readonly delivery: number
  readonly due: number
}

/** A relay that works on the store now. */
export interface RunningRelay {
  readonly host: string
  readonly pid: number
}

export interface OperatorStore {
  relays(): Promise<readonly RunningRelay[]>
  endpoints(): Promise<readonly EndpointStatus[]>
  /** The endpoints of one network. Waiting and dead deliveries are counted up to 100,000 each. */
  endpointsOf(network: string): Promise<readonly EndpointStatus[]>
  /** The endpoints themselves, keys and secrets included. */
  knownEndpoints(): Promise<readonly Endpoint[]>
  /** The newest first. */
  deliveries(selection: Selection): Promise<readonly DeliveryStatus[]>
  /** Whether there is an event of this type. */
  hasEventType(type: string): Promise<boolean>
  attempts(delivery: number): Promise<readonly AttemptRow[]>
  /** The exact JSON of a delivery, or null if it is no longer kept. */
  body(delivery: number): Promise<string | null>
  /** The deliveries of a search in parts; each reads a bounded number of rows. */
  walk(search: DeliverySearch, order: 'ASC' | 'DESC', limit?: number): AsyncGenerator<Walked>
  /** How many deliveries a search has, in parts; each reads a bounded number of rows. */
  counts(search: DeliverySearch): AsyncGenerator<number>
  /** The id after the newest delivery. */
  end(): Promise<number>
  /**
   * Counts by slots of time, for charts.
   * @param since milliseconds since 1970
   * @param length of a slot, in milliseconds
   * @param newest how many of the newest deliveries of each endpoint are looked at
   */
  slots(network: string, since: number, length: number, newest: number): Promise<readonly Slot[]>
  /** Makes deliveries due again, and returns how many were not due before. */
  makeDue(deliveries: readonly Due[]): Promise<number>
  notices(limit: number): Promise<readonly NoticeStatus[]>
  /** How many deliveries a selection has, its limit aside. */
  count(selection: Selection): Promise<number>
  /**
   * Makes deliveries due again, with all their attempts before them, and returns their number. The oldest first, in parts
   * between which running relays have their turn.
   * @param pace deliveries that become due per second (all immediately without it), and the function to call after each part
   */
  replay(selection: Selection, now: number, pace?: ReplayPace): Promise<number>
  /**
   * Sets waiting deliveries of an endpoint aside, the oldest first, and returns their number; `replay` undoes it. One that is
   * in flight counts as delivered if it is delivered after all.
   */
  skip(endpoint: Endpoint, selection: Selection, now: number): Promise<number>
  /**
   * Gives an endpoint a fresh start: its circuit closes, and sending begins slowly. A running relay notices within a second.
   * @param notice what is recorded of it
   */
  startAfresh(ref: number, now: number, notice?: Notice): Promise<void>
  /** Gives an endpoint a fresh start, and sends to it again where the relay or a person had disabled it. */
  enable(ref: number): Promise<void>
  /** Disables an endpoint: its events wait. A running relay notices within a second. */
  disable(ref: number, reason: string): Promise<void>
  /**
   * Has an event delivered to this endpoint alone, like every other one: it is due immediately. A running relay notices within a second.
   * @param now milliseconds since 1970
   */
  deliver(endpoint: Endpoint, event: EventRecord, now: number): Promise<void>
  /** How far the streams of the outbox are ingested; empty where ingesting removes. */
  positions(): Promise<Positions>
  /** The problems that the database itself finds in the store; usually none. */
  problems(): Promise<readonly string[]>
  close(): Promise<void>
}

/** The questions that only the engine of a store can answer. */
export type EngineStatus = Pick<OperatorStore, 'relays' | 'positions' | 'problems'>
