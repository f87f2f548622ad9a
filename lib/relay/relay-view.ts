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
  readonly endpoint_id: Id
  readonly activity: EndpointActivity
  /** Why it is disabled or set aside, or why its key cannot be read; null otherwise. */
  readonly reason: string | null
  readonly pending: number
  readonly dead: number
  readonly oldest_pending_at: string | null
  readonly last_success_at: string | null
  /** Why the latest attempt failed; null once one was delivered. */
  readonly last_error: string | null
  readonly next_attempt_at: string | null
  readonly next_probe_at: string | null
  /** The last 24 hours, the oldest first; hours without an attempt may be left out. */
  readonly hours: readonly AttemptCount[]
}

/** The attempts of one hour, or of one minute. */
export interface AttemptCount {
  /** Its beginning. */
  readonly at: string
  readonly delivered: number
  readonly failed: number
}

/** The relay and the endpoints of one network. */
export interface RelayStatus {
  /** Whether a relay sends now. */
  readonly running: boolean
  readonly endpoints: readonly EndpointHealth[]
}

/** Which deliveries; every condition that is given must hold. */
export interface DeliveryFilter {
  readonly endpoint_id?: Id
  /** As on the wire: `PostCreatedHook`. */
  readonly event_type?: string
  readonly event_id?: string
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
  readonly endpoint_id: Id
  readonly event_id: string
  readonly event_type: string
  readonly event_timestamp: string
  readonly state: DeliveryState
  readonly attempts: number
  readonly last_attempt_at: string | null
  /** `delivered`, or the class of the failure. */
  readonly last_outcome: string | null
  readonly last_status: number | null
  /** The duration of the latest attempt. */
  readonly milliseconds: number | null
  /** For a pending one. */
  readonly next_attempt_at: string | null
}

/** A page of deliveries, the newest first. */
export interface DeliveryPage {
  readonly items: readonly DeliveryRow[]
  /** Given as `after` it yields the next page; null on the last. */
  readonly next: string | null
}

/** One attempt. */
export interface AttemptRow {
  readonly number: number
  readonly at: string
  readonly milliseconds: number
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
  readonly history: readonly AttemptRow[]
}

/** A number that was counted up to a bound, and within a time-out. */
export interface CappedCount {
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
export type ReplaySelection = { readonly ids: readonly string[] } | { readonly filter: DeliveryFilter }

/** A resend that began. */
export interface ReplayProgress {
  /** A text without blanks. */
  readonly id: string
  readonly state: 'running' | 'done' | 'stopped' | 'failed'
  /** Deliveries that are due again. */
  readonly done: number
  /** The deliveries that matched at the start, capped as counts are. */
  readonly of: CappedCount
  readonly started_at: string
}

/** The answer to a test event. */
export interface TestAnswer {
  /** `delivered`, or the class of the failure. */
  readonly outcome: string
  readonly status: number | null
  /** In words, without addresses, keys and bodies. */
  readonly reason: string
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
  readonly oldest_pending_at: string | null
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
