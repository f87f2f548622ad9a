/** The relay's store for an operator, as an interface, and what an operator sees. */
import type { EventRecord } from '../../../../lib/outbox/record.ts'
import type { Positions } from '../../../../lib/outbox/source.ts'
import type {
  AttemptRow,
  DeliveryFilter,
  DeliveryRow,
  EndpointStatus,
  NoticeStatus,
  RunningRelay,
} from '../../../../lib/relay/relay-admin.ts'
import type { Endpoint } from '../endpoint/relay-endpoint.ts'
import type { StoredHour } from '../hours.ts'
import type { Notice } from '../notice.ts'

export interface DeliverySearch extends DeliveryFilter {
  readonly id?: number
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

export interface SearchPart {
  readonly found: readonly DeliveryRow[]
  /** The id up to which they are found. */
  readonly reached: number
  /** Rows that were looked through for them, at most. */
  readonly looked: number
}

export interface Due {
  readonly delivery: number
  readonly due: number
}

/** An endpoint as the store has it: what the relay does with it at this moment is not there. */
export type StoredStatus = Omit<EndpointStatus, 'hours'>

export interface OperatorStore {
  relays(): Promise<readonly RunningRelay[]>
  endpoints(): Promise<readonly StoredStatus[]>
  /** The endpoints of one network. Waiting and dead deliveries are counted up to 100,000 each. */
  endpointsOf(network: string): Promise<readonly StoredStatus[]>
  /** The endpoints themselves, tokens and secrets included. */
  knownEndpoints(): Promise<readonly Endpoint[]>
  /** The newest first. */
  deliveries(search: DeliverySearch & { readonly limit: number }): Promise<readonly DeliveryRow[]>
  hasEventType(type: string): Promise<boolean>
  attempts(delivery: number): Promise<readonly AttemptRow[]>
  /** The exact JSON of a delivery and the names of the changed fields, or null if they are no longer kept. */
  content(delivery: number): Promise<{ readonly body: string; readonly changed: readonly string[] } | null>
  /** The deliveries of a search in parts; each reads a bounded number of rows. */
  walk(search: DeliverySearch, order: 'ASC' | 'DESC', limit?: number): AsyncGenerator<SearchPart>
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
  /** The attempts of each hour since a time (milliseconds since 1970), the oldest first; of about a day. */
  hours(network: string, since: number): Promise<readonly StoredHour[]>
  /** Makes deliveries due again, with all their attempts before them, and returns those that were not due before. */
  makeDue(deliveries: readonly Due[]): Promise<readonly number[]>
  notices(limit: number): Promise<readonly NoticeStatus[]>
  /**
   * Sets waiting deliveries of an endpoint aside, the oldest first, and returns their number; a resend undoes it. One that is
   * in flight counts as delivered if it is delivered after all.
   */
  skip(endpoint: Endpoint, filter: DeliveryFilter, limit: number, now: number): Promise<number>
  /** Resets an endpoint: its circuit closes, and sending begins slowly. A running relay notices within a second. */
  resetEndpoint(ref: number, now: number, notice?: Notice): Promise<void>
  /** Resets an endpoint, and sends to it again where the relay or a person had disabled it. */
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

/** The queries that depend on the engine of a store. */
export type EngineStatus = Pick<OperatorStore, 'relays' | 'positions' | 'problems'>
