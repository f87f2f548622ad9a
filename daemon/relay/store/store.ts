/**
 * The relay's store, as an interface: SQLite next to the outbox, or the PostgreSQL database that many relays share.
 *
 * Terms
 * - **Delivery**: one event on its way to one endpoint.
 * - **Ref**: the store's own small number of an endpoint.
 * - **Lane**: first attempts and retries wait separately, so that a mountain of retries never delays a new event.
 * - **Subject**: what an event is about. With ordered subjects, only the oldest waiting delivery of each is in a lane. The
 *   others are blocked, so that no query ever reads through them. Only the sending relay sorts new deliveries.
 * - **Tick**: everything that one step of the scheduler changes, in one transaction.
 * - **Lease**: the time for which a relay alone sends to its endpoints. A relay with a separate store has all of them for ever.
 *
 * Times are milliseconds of the relay's timeline.
 */
import type { DeliveryState } from '../../../lib/relay/relay-admin.ts'
import type { Endpoint, EndpointState, StoredEndpoint } from './endpoint/relay-endpoint.ts'
import type { Notice } from './notice.ts'

export type Lane = 'first' | 'retry'

/** A delivery that waits. */
export interface Waiting {
  readonly delivery: number
  readonly event: number
  readonly lane: Lane
  readonly due: number
  readonly attempts: number
  /** How often an attempt began and the process died before its result was known. */
  readonly interruptions: number
}

/** The content of a delivery. */
export interface Outgoing {
  readonly delivery: number
  readonly event_id: string
  readonly event_type: string
  readonly network_id: string
  /** When the relay ingested the event. */
  readonly received_at: number
  /** The trace that the event belongs to, as `traceparent`; null if the API is not traced. */
  readonly trace: string | null
  /** The names of the fields that it has changed, between commas; null if none is known. */
  readonly changed: string | null
  readonly body: Uint8Array
  /** Whether the body is the one that was ingested, byte for byte. */
  readonly intact: boolean
}

/** The result of an attempt. */
export interface Result {
  readonly delivery: number
  readonly state: Exclude<DeliveryState, 'skipped'>
  readonly attempts: number
  /** For `pending`: when it is tried again. */
  readonly due: number
  readonly at: number
  readonly milliseconds: number
  readonly status: number | null
  readonly outcome: string
  /** The beginning of the response, when that was not 2xx. */
  readonly answer: string | null
  /** Its headers, one per line. */
  readonly answer_headers: string | null
  /** The failure in words; null if `outcome` and `status` say all. */
  readonly reason: string | null
}

/** Why the relay stops sending to an endpoint. */
export interface Disabling {
  readonly reason: string
  /** The resets of the endpoint when that was decided: after another reset it is not disabled. */
  readonly fresh_starts: number
}

export interface Tick {
  readonly results: readonly Result[]
  readonly states: ReadonlyMap<number, EndpointState>
  /** Endpoints that the relay stops sending to. */
  readonly disable: ReadonlyMap<number, Disabling>
  /** Every delivery that is in flight after this tick; the same set as the last time when it did not change. */
  readonly inFlight: ReadonlySet<number>
  readonly notices: readonly Notice[]
  /** Deliveries among the results whose endpoints keep the order of subjects: the next ones of their subjects may go. */
  readonly ordered: readonly number[]
}

/** A tick as it was recorded. */
export interface Recorded {
  /** The refs of the endpoints that have more to be sent, because of the notices. */
  readonly refs: readonly number[]
  /** The notices of the tick that are true. An endpoint that was reset in the meantime was not disabled. */
  readonly notices: readonly Notice[]
}

/** Skipped parts of the outbox, kept for a person in the table `set_aside`. */
export interface QuarantinedRecord {
  readonly reason: string
  readonly network_id: string | null
  readonly endpoint_id: string | null
  readonly event_id: string | null
  readonly content: string
}

/** The result of a reading of the outbox. */
export interface Ingested {
  readonly events: number
  /** Events that had been ingested before. */
  readonly duplicates: number
  /** New deliveries per endpoint ref, due at the time that was given. */
  readonly deliveries: ReadonlyMap<number, number>
  /** Endpoints that changed, as they are now. */
  readonly changed: readonly Endpoint[]
  readonly removed: readonly Endpoint[]
  readonly notices: readonly Notice[]
  readonly quarantined: readonly QuarantinedRecord[]
}

export interface Recovered {
  readonly endpoints: readonly StoredEndpoint[]
  /** The latest time that an earlier run saw. */
  readonly time: number
  /** Deliveries that were in flight when an earlier run died. */
  readonly interrupted: number
  readonly notices: readonly Notice[]
}

export interface Counts {
  readonly pending: number
  readonly dead: number
  readonly oldestPending: number | null
}

export interface Purge {
  readonly delivered: number
  /** Dead deliveries, notices, and what waits for endpoints that are sent nothing. */
  readonly dead: number
  /** Replaced tokens and secrets whose time is over by now. */
  readonly now: number
}

/** Changes by others in the store since the last poll. */
export interface StoreChanges {
  /** The lease of these changes: changes of an expired one are ignored. */
  readonly lease: string
  /** Whether the lease is over: others send to its endpoints by now, and `recover` starts over. */
  readonly lost: boolean
  /** The endpoints for which something waits that may not have been there, or all of them. */
  readonly touched: 'all' | readonly number[]
  /** Endpoints of this lease that are defined differently now. */
  readonly changed: readonly Endpoint[]
  /** Endpoints that this lease has in addition. */
  readonly gained: readonly StoredEndpoint[]
  /** Endpoints that this lease has no more. */
  readonly gone: readonly number[]
  /** Endpoints that are wanted for another relay: to be released as soon as nothing of theirs is in flight. */
  readonly wanted: readonly number[]
  /** The dead relays that this relay has found. */
  readonly notices: readonly Notice[]
}

/** Others send to what was this relay's: nothing of it may be sent or recorded any more. `recover` starts over. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

export interface RelayStore {
  /** Called first, and after a lease was lost. Counts a start for what was in flight; the third makes it dead. */
  recover(now: number): Promise<Recovered>
  /** Every endpoint that is there, as it stands, whichever relay sends to it. */
  endpoints(): Promise<readonly StoredEndpoint[]>

  /** How many waiting deliveries of a lane are worth one read: fewer where each takes its time, as its body crosses a network. */
  readonly readsAtOnce: number
  /**
   * The waiting deliveries of a lane of each endpoint, by due time, so many of each.
   * @param except deliveries of each endpoint that are left out, such as those in flight: the store calls them waiting
   */
  peek(
    endpoints: readonly number[],
    lane: Lane,
    limit: number,
    except?: ReadonlyMap<number, readonly number[]>,
  ): Promise<ReadonlyMap<number, readonly Waiting[]>>
  /**
   * Puts in order what has come for endpoints that keep the order of subjects.
   * @returns those of which there is more
   * @throws LeaseLost
   */
  arrange(endpoints: readonly number[], inFlight: ReadonlySet<number>): Promise<readonly number[]>
  /**
   * Puts what waits for these endpoints in their order, whatever it was before, or a part of it. The next part follows with the
   * next call, with the same definitions.
   * @returns those that are not in order yet
   * @throws LeaseLost
   */
  arrangeAll(endpoints: readonly Endpoint[], inFlight: ReadonlySet<number>): Promise<readonly number[]>
  /** The oldest event's delivery that is due, leaving one event out. */
  oldestDue(endpoint: number, now: number, except: number | null): Promise<Waiting | undefined>
  /** The newest event's delivery that is due, leaving one event out. */
  newestDue(endpoint: number, now: number, except: number | null): Promise<Waiting | undefined>
  /** The oldest event's delivery, due or not: the head of a fifo endpoint. */
  head(endpoint: number): Promise<Waiting | undefined>
  /**
   * Records a tick in one transaction, with an event for the network's host endpoints for each notice that they subscribe to.
   * @throws LeaseLost
   */
  commit(tick: Tick, now: number): Promise<Recorded>
  /** The contents to send, by delivery; unknown ones are omitted. */
  outgoing(deliveries: readonly Waiting[]): Promise<ReadonlyMap<number, Outgoing>>

  /** Changes by others since the last poll: a resend from the command line, another relay. */
  poll(): Promise<StoreChanges | undefined>
  /** Names the present lease. */
  readonly lease: string
  /** Milliseconds for which certainly no other relay sends to the endpoints of this lease. */
  readonly leasedFor: number
  /** Whether another relay is to have all endpoints of this lease, because it is nearer to the database. */
  readonly isAside: boolean
  /** Lets others send to these endpoints. */
  release(endpoints: readonly number[]): Promise<void>
  /** Calls back soon after others may have changed something; a hint, never a promise. The result ends it. */
  watch(changed: () => void): () => void
  /** Milliseconds that the store's clock is ahead of this machine's. */
  readonly skew: number

  /** How much waits and is dead, and when the oldest event that waits was ingested. */
  counts(): Promise<Counts>
  /** The size of the write-ahead log, which grows while a reader holds an old snapshot; 0 where the store has none of its own. */
  logBytes(): number
  /** Removes older rows, and rows about erased people, a part at a time. 0 when nothing is left to remove or to look at. */
  purge(before: Purge): Promise<number>
  /** Gives space back to the disk, a part at a time. */
  compact(): Promise<void>
  close(): Promise<void>
}
