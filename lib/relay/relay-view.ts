/**
 * The relay as the panel sees it, in types alone. Each call is about one network, and an answer never contains another
 * network's rows. Times are ISO 8601 in UTC. A call that fails rejects: the panel then shows that the relay is away.
 */
import type { Id } from '../storage/table.ts'

/** The state of a delivery. `dead`: no attempt is left. `skipped`: an operator set it aside. */
export type DeliveryState = 'pending' | 'delivered' | 'dead' | 'skipped'

/** Why nothing, or less than everything, is sent to an endpoint. */
export type EndpointActivity = 'delivering' | 'paused' | 'circuit open' | 'probing' | 'disabled' | 'unreadable' | 'set aside'

/** A relay may count `pending` and `dead` of an endpoint up to here. */
export const mostOfEndpoint = 100_000

/** An endpoint as the relay sends to it. It never contains its key, its secrets or its address. */
export interface EndpointHealth {
  /** The endpoint, as `community.endpoints` lists it. */
  readonly endpoint_id: Id
  /** What the relay does with it now: `delivering`, or why it sends less or nothing. */
  readonly activity: EndpointActivity
  /** Why it is disabled or set aside, or why its key cannot be read; null otherwise. */
  readonly reason: string | null
  /** Deliveries that are not done yet, counted up to 100,000: new ones, and those that wait for a retry. */
  readonly pending: number
  /** Deliveries without an attempt left, counted up to 100,000. A replay sends them again. */
  readonly dead: number
  /** When the relay ingested the oldest pending event. ISO 8601, UTC; null if nothing is pending. */
  readonly oldest_pending_at: string | null
  /** When an attempt last got a 2xx. ISO 8601, UTC; null before the first. */
  readonly last_success_at: string | null
  /** Why the latest attempt failed; null once one was delivered. */
  readonly last_error: string | null
  /** When the next delivery is due. ISO 8601, UTC; null if none is, or nothing is sent to it. */
  readonly next_attempt_at: string | null
  /** When an open circuit lets one delivery through, to see whether the receiver works again; null if closed. */
  readonly next_probe_at: string | null
  /** The last 24 hours, the oldest first; hours without an attempt may be left out. */
  readonly hours: readonly AttemptCount[]
}

/** The attempts of one hour, or of one minute. */
export interface AttemptCount {
  /** Its beginning. */
  readonly at: string
  /** Those that the receiver answered with a 2xx. */
  readonly delivered: number
  /** Those with any other outcome, such as a 500 or a time-out. */
  readonly failed: number
}

/** The relay and the endpoints of one network. */
export interface RelayStatus {
  /** Whether a relay sends now. */
  readonly running: boolean
  /** Each endpoint of the network that the relay has heard of. */
  readonly endpoints: readonly EndpointHealth[]
}

/** Which deliveries; every condition that is given must hold. */
export interface DeliveryFilter {
  /** Only deliveries to this endpoint. */
  readonly endpoint_id?: Id
  /** As on the wire: `PostCreatedHook`. */
  readonly event_type?: string
  /** Only deliveries of this event: one for each endpoint that gets it. */
  readonly event_id?: string
  /** Only deliveries that are in this state now. */
  readonly state?: DeliveryState
  /** The outcome of the latest attempt, such as `timeout`. */
  readonly outcome?: string
  /** The status of the latest answer, from 100 to 599. */
  readonly http_status?: number
  /** The latest attempt took at least so long, in milliseconds. */
  readonly min_milliseconds?: number
  /** Ingested at or after. ISO 8601. */
  readonly since?: string
  /** Ingested before. ISO 8601. */
  readonly until?: string
}

/** The part of a list of deliveries to return. */
export interface DeliveryPaging {
  /** At most so many, from 1 to 100. */
  readonly limit: number
  /** The `next` of the page before. */
  readonly after?: string
}

/** One delivery: one event to one endpoint. */
export interface DeliveryRow {
  /** A text without blanks, which the store makes. */
  readonly id: string
  /** The endpoint that it goes to. */
  readonly endpoint_id: Id
  /** The same on every attempt and at every endpoint; receivers de-duplicate by it. */
  readonly event_id: string
  /** As on the wire, with `Hook`: `PostCreatedHook`. */
  readonly event_type: string
  /** When the event happened. ISO 8601, UTC. */
  readonly event_timestamp: string
  /** `pending` until an attempt gets a 2xx, none is left, or an operator sets it aside. */
  readonly state: DeliveryState
  /** Attempts so far; 0 before the first. */
  readonly attempts: number
  /** ISO 8601, UTC; null before the first attempt. */
  readonly last_attempt_at: string | null
  /** `delivered`, or the class of the failure. */
  readonly last_outcome: string | null
  /** The HTTP status of the latest attempt; null if no answer came, or before the first. */
  readonly last_status: number | null
  /** The duration of the latest attempt. */
  readonly milliseconds: number | null
  /** For a pending one. */
  readonly next_attempt_at: string | null
}

/** A page of deliveries, the newest first. */
export interface DeliveryPage {
  /** At most `limit` deliveries. */
  readonly items: readonly DeliveryRow[]
  /** Given as `after` it yields the next page; null on the last. */
  readonly next: string | null
}

/** One attempt. */
export interface AttemptRow {
  /** Which attempt of the delivery it was, from 1. */
  readonly number: number
  /** When it was made. ISO 8601, UTC. */
  readonly at: string
  /** How long it took, up to the end of the answer or the failure. */
  readonly milliseconds: number
  /** The HTTP status of the answer; null if none came. */
  readonly status: number | null
  /** `delivered`, or the class of the failure. */
  readonly outcome: string
  /** The beginning of what the receiver answered, at most 8 KiB; null if nothing is kept. */
  readonly answer: string | null
  /** The headers of that answer, one per line, at most 4 KiB; without cookies. */
  readonly answer_headers: string | null
  /** The failure in words, such as `CERT_HAS_EXPIRED`; null if `outcome` and `status` say all, or nothing is kept. */
  readonly reason: string | null
}

/** One delivery with its body and its attempts, the newest first. */
export interface DeliveryDetail extends DeliveryRow {
  /** The exact JSON that is sent; null if it is no longer kept. */
  readonly body: string | null
  /** Its attempts, the newest first. */
  readonly history: readonly AttemptRow[]
}

/** A number that was counted up to a bound, and within a time-out. */
export interface CappedCount {
  /** The number found; with `exact: false` there are at least so many. */
  readonly count: number
  /** `false`: there are more than `count`. */
  readonly exact: boolean
}

/** The person behind a change, for the audit and the log. */
export interface Actor {
  /** A name that the host gives. */
  readonly actor: string
  /** The network address of the person's client, if the host gives it. */
  readonly address?: string
}

/** The deliveries to resend: those named, or all that match at the start. Pending ones are due already and are left out. */
export type ReplaySelection =
  | {
      /** Deliveries, by the `id` of their rows. */
      readonly ids: readonly string[]
    }
  | {
      /** All deliveries of the network that match when it begins. */
      readonly filter: DeliveryFilter
    }

/** A resend that began. */
export interface ReplayProgress {
  /** A text without blanks. */
  readonly id: string
  /** `running` until all are due again; `stopped` by a person, `failed` by the relay. */
  readonly state: 'running' | 'done' | 'stopped' | 'failed'
  /** Deliveries that are due again. */
  readonly done: number
  /** The deliveries that matched at the start, capped as counts are. */
  readonly of: CappedCount
  /** When it was asked for. ISO 8601, UTC. */
  readonly started_at: string
}

/** The answer to a test event. */
export interface TestAnswer {
  /** `delivered`, or the class of the failure. */
  readonly outcome: string
  /** The HTTP status of the answer; null if none came. */
  readonly status: number | null
  /** In words, without addresses, keys and bodies. */
  readonly reason: string
  /** How long the attempt took. */
  readonly milliseconds: number
  /** The beginning of what the receiver answered, at most 8 KiB. */
  readonly answer?: string | null
  /** The headers of that answer, one per line, at most 4 KiB; without cookies. */
  readonly answer_headers?: string | null
}

/** One minute of a network. */
export interface RelayMinute extends AttemptCount {
  /** Circuits that opened or closed. */
  readonly circuit_changes: number
}

/** The last hours of a network, for charts. */
export interface RelayActivity {
  /** One entry for each minute with an attempt or a change, the oldest first. */
  readonly minutes: readonly RelayMinute[]
  /** When the oldest pending event of the network was ingested. ISO 8601, UTC; null if nothing is pending. */
  readonly oldest_pending_at: string | null
  /** Deliveries of the network that are not done yet. */
  readonly pending: CappedCount
}

/**
 * The relay for the panel. A network is named by its id.
 *
 * Implementations: the relay of the same process, its control port, and the shared PostgreSQL store.
 */
export interface RelayView {
  /** The state of the relay, and of each endpoint of the network that it has heard of. */
  status(network: Id): Promise<RelayStatus>
  /** @param minutes how far back, from 1 to 1440 */
  activity(network: Id, minutes: number): Promise<RelayActivity>
  /** The newest first, by an index. */
  deliveries(network: Id, filter: DeliveryFilter, paging: DeliveryPaging): Promise<DeliveryPage>
  /** How many match, counted up to 500,000 and within a time-out. */
  count(network: Id, filter: DeliveryFilter): Promise<CappedCount>
  /** The delivery, or `undefined` if the network has no such delivery. */
  delivery(network: Id, id: string): Promise<DeliveryDetail | undefined>
  /**
   * Begins to make deliveries due again, in the background.
   * @param options deliveries a second, from 1 to 10000, and the person who asked
   */
  replay(
    network: Id,
    selection: ReplaySelection,
    options: { readonly perSecond: number; readonly by: Actor },
  ): Promise<ReplayProgress>
  /** A resend of the last hour, or `undefined` if the network has no such resend. */
  replayed(network: Id, id: string): Promise<ReplayProgress | undefined>
  /** Ends a resend: deliveries that are due again stay due. */
  stopReplay(network: Id, id: string): Promise<ReplayProgress | undefined>
  /** Sends one test event immediately; nothing is recorded. `undefined` if the relay has no such endpoint. */
  test(network: Id, endpoint: Id): Promise<TestAnswer | undefined>
  /** Sends again where the relay had stopped by itself, and closes the circuit. False if the relay has no such endpoint. */
  enable(network: Id, endpoint: Id): Promise<boolean>
  /** Sends nothing more until `enable`; events wait. False if the relay has no such endpoint. */
  disable(network: Id, endpoint: Id): Promise<boolean>
}
