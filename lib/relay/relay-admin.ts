/**
 * The administration of a relay, in types alone: for commands, the control port and the panel. Times are ISO 8601 in UTC. A
 * call that fails rejects: the panel then shows that the relay is away.
 */
import type { Id } from '../storage/table.ts'

/** The state of a delivery. `dead`: no attempt is left. `skipped`: an operator set it aside. */
export type DeliveryState = 'pending' | 'delivered' | 'dead' | 'skipped'

/** Why nothing, or less than everything, is sent to an endpoint. */
export type EndpointActivity = 'delivering' | 'paused' | 'circuit open' | 'probing' | 'disabled' | 'unreadable' | 'set aside'

/** A relay may count `pending` and `dead` of an endpoint up to here. */
export const mostOfEndpoint = 100_000

/** An endpoint as the relay sends to it: no key, no secret, and of its URL the origin only. */
export interface EndpointStatus {
  /** The endpoint, as `community.endpoints` lists it. */
  readonly endpoint_id: Id
  /** The network whose events it gets. */
  readonly network_id: Id
  /** A name that the host gave; null if it gave none. */
  readonly name: string | null
  /** Scheme, host and port of its URL: `https://example.org`. */
  readonly origin: string
  /** Enough of its path to distinguish endpoints of one origin: the end of it. A path may be a secret. */
  readonly path: string
  /** `paused`: by the host. `disabled`: stopped by the relay or an operator. Its events wait in both cases. */
  readonly state: 'active' | 'paused' | 'disabled'
  /** What the relay does with it now: `delivering`, or why it sends less or nothing. */
  readonly activity: EndpointActivity
  /** Why it is disabled or set aside, or why its key cannot be read; null otherwise. */
  readonly reason: string | null
  /** Why the relay stopped sending to it. */
  readonly disabled: string | null
  /** `open` after failures in a row: nothing but a probe is sent now and then, until one succeeds. */
  readonly circuit: 'closed' | 'open'
  /** Deliveries that are not done yet: new ones, and those that wait for a retry. In one network counted up to 100,000. */
  readonly pending: number
  /** Deliveries without an attempt left. A resend sends them again. In one network counted up to 100,000. */
  readonly dead: number
  /** When an attempt last got a 2xx; null before the first. */
  readonly last_success_at: string | null
  /** When its failures in a row began; null while it works. */
  readonly failing_since: string | null
  /** When the relay ingested the oldest pending event; null if nothing is pending. */
  readonly oldest_pending_at: string | null
  /** When something is sent to it next: when that is due, and not before the next probe of an open circuit. */
  readonly next_attempt_at: string | null
  /** When an open circuit lets a probe through, at the latest; null if closed. */
  readonly next_probe_at: string | null
  /** Why the latest attempt failed; null once one was delivered. */
  readonly last_error: string | null
  /** Why its key and secrets cannot be decrypted, or it is set aside, and nothing is sent to it. */
  readonly unreadable: string | null
  /** Whether it needs what this version of the relay does not know. */
  readonly set_aside: boolean
  /** In the status of one network, the last 24 hours, the oldest first; hours without an attempt may be left out. */
  readonly hours: readonly HourCount[]
}

/** A relay that works on the store now. */
export interface RunningRelay {
  readonly host: string
  readonly pid: number
}

/** A message of the relay to its operators. */
export interface NoticeStatus {
  readonly at: string
  readonly kind: string
  readonly network_id: Id | null
  readonly endpoint_id: Id | null
  readonly event_id: string | null
  readonly text: string
}

/** The attempts of one hour, or of one minute. */
export interface AttemptCount {
  /** Its beginning. */
  readonly at: string
  /** Those with a 2xx of the receiver. */
  readonly delivered: number
  /** Those with any other outcome, such as a 500 or a time-out. */
  readonly failed: number
}

/** The attempts of one hour, and how long the receiver took. */
export interface HourCount extends AttemptCount {
  /** Attempts with a response or a time-out, by their duration: up to 10, 25, 50, 100, 250, 500, 1000, 2500, 5000 and 10,000 ms, and longer. */
  readonly durations: readonly number[]
  /** The longest of these, in milliseconds; 0 if there is none. */
  readonly slowest: number
}

/** The relays and their endpoints: all of them, or those of one network. */
export interface RelayStatus {
  /** Whether a relay sends now. */
  readonly running: boolean
  /** Those that work on the store. */
  readonly relays: readonly RunningRelay[]
  /** Each endpoint that the relay knows. */
  readonly endpoints: readonly EndpointStatus[]
  /** The latest 100, the newest first. */
  readonly notices: readonly NoticeStatus[]
}

/** Which deliveries; every condition that is given must hold. */
export interface DeliveryFilter {
  /** Only deliveries of this network. */
  readonly network_id?: Id
  /** Only deliveries to this endpoint. */
  readonly endpoint_id?: Id
  /** As on the wire: `PostCreatedHook`. */
  readonly event_type?: string
  /** Only deliveries of this event: one for each endpoint that gets it. */
  readonly event_id?: string
  /** Only deliveries of events with this subject, such as `member:1001`: what `order` goes by. */
  readonly subject?: string
  /** Only deliveries that are in this state now. */
  readonly state?: DeliveryState
  /** The outcome of the latest attempt, such as `timeout`. */
  readonly outcome?: string
  /** The status of the latest response, from 100 to 599. */
  readonly http_status?: number
  /** The latest attempt took at least so long, in milliseconds. */
  readonly min_milliseconds?: number
  /** The latest attempt was at or after. ISO 8601. A delivery may fail for good days after its event. */
  readonly last_attempt_since?: string
  /** Ingested at or after. ISO 8601. */
  readonly since?: string
  /** Ingested before. ISO 8601. */
  readonly until?: string
}

/** The part of a list of deliveries to return. */
export interface DeliveryPaging {
  /** At most so many: 50 by default. */
  readonly limit?: number
  /** The `next` of the page before. */
  readonly after?: string
}

/** One delivery: one event to one endpoint. */
export interface DeliveryRow {
  /** A text without blanks, which the store makes. */
  readonly id: string
  /** The network of the event. */
  readonly network_id: Id
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
  /** The HTTP status of the latest attempt; null if no response came, or before the first. */
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
  /** How long it took, up to the end of the response or the failure. */
  readonly milliseconds: number
  /** The HTTP status of the response; null if none came. */
  readonly status: number | null
  /** `delivered`, or the class of the failure. */
  readonly outcome: string
  /** The beginning of the receiver's response, at most 8 KiB; null if nothing is kept. */
  readonly answer: string | null
  /** The headers of that response, one per line, at most 4 KiB; without cookies. */
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

/**
 * The deliveries to resend: those named, or all that match when it begins. A filter leaves pending ones out, and without `state` means
 * dead ones; pending ones that are named are due now, and keep their attempts.
 */
export interface ResendRequest extends DeliveryFilter, Partial<Actor> {
  /** Deliveries, by the `id` of their rows. */
  readonly ids?: readonly string[]
  /** Needed without `ids` and any condition but `state`. */
  readonly all?: true
  /** At most so many. */
  readonly limit?: number
  /** Deliveries a second; all become due together without it. */
  readonly per_second?: number
}

/** A resend that began. */
export interface ResendProgress {
  /** A text without blanks. */
  readonly id: string
  /** `running` until all are due again; `stopped` by a person, `failed` by the relay. */
  readonly state: 'running' | 'done' | 'stopped' | 'failed'
  /** Deliveries that are due again. */
  readonly done: number
  /** The deliveries that matched at the start, capped as counts are. */
  readonly of: CappedCount
  /** When it began. ISO 8601, UTC. */
  readonly started_at: string
}

/** Pending deliveries of one endpoint to set aside, the oldest first: all of them unless something is said. */
export interface SkipRequest extends EndpointRef, Omit<DeliveryFilter, 'state' | keyof EndpointRef> {
  /** At most so many. */
  readonly limit?: number
}

/** Why an event was delivered to an endpoint, or was not. */
export interface Explanation {
  /** In a word or two, for programs. */
  readonly reason: string
  readonly text: string
  /** The delivery with its attempts; null if there is none. */
  readonly delivery: DeliveryDetail | null
}

/** The response to a test event. */
export interface TestResult
  extends Pick<AttemptRow, 'outcome' | 'status' | 'milliseconds'>,
    Partial<Pick<AttemptRow, 'answer' | 'answer_headers'>> {
  /** In words, without addresses, keys and bodies. */
  readonly reason: string
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

/** An endpoint of a network. */
export interface EndpointRef {
  readonly network_id: Id
  readonly endpoint_id: Id
}

/** A test: of an event with example data, or of a `TestHook` without `event_type`. */
export interface TestRef extends EndpointRef {
  /** As on the wire: `PostCreatedHook`. */
  readonly event_type?: string
}

/** A delivery or a resend; with `network_id`, one of this network. */
export interface NamedRef {
  readonly id: string
  readonly network_id?: Id
}

/**
 * The administration of a relay. With a `network_id`, a call is about that network alone: its response never contains another
 * network's rows. `undefined`: the relay has no such thing.
 *
 * There is one implementation, over the store of the relay, and the client of the control port.
 */
export interface RelayAdmin {
  /** The state of the relay, and of each endpoint that it knows. */
  status(of: { readonly network_id?: Id }): Promise<RelayStatus>
  /** @param of how many minutes back, from 1 to 1440 */
  activity(of: { readonly network_id: Id; readonly minutes: number }): Promise<RelayActivity>
  /** The newest first. */
  list(of: DeliveryFilter & DeliveryPaging): Promise<DeliveryPage>
  /** How many match, counted up to 500,000 and within a time-out. */
  count(filter: DeliveryFilter): Promise<CappedCount>
  get(delivery: NamedRef): Promise<DeliveryDetail | undefined>
  /** Begins to make deliveries due again, in the background. */
  resend(request: ResendRequest): Promise<ResendProgress>
  /** A resend of the last hour. */
  progress(resend: NamedRef): Promise<ResendProgress | undefined>
  /** Ends a resend: deliveries that are due again stay due. */
  stop(resend: NamedRef): Promise<ResendProgress | undefined>
  /** Sets pending deliveries aside, and returns their number; a resend undoes it. */
  skip(request: SkipRequest): Promise<{ readonly skipped: number } | undefined>
  explain(of: EndpointRef & { readonly event_id: string }): Promise<Explanation | undefined>
  /** Sends one test event immediately; nothing is recorded. */
  test(of: TestRef): Promise<TestResult | undefined>
  /** Sends again where the relay had stopped by itself, and closes the circuit. */
  enable(endpoint: EndpointRef): Promise<{ readonly enabled: boolean } | undefined>
  /** Sends nothing more until `enable`; events wait. */
  disable(endpoint: EndpointRef): Promise<{ readonly enabled: boolean } | undefined>
  /** Resumes sending, slowly at first. */
  closeCircuit(endpoint: EndpointRef): Promise<CircuitClosed | undefined>
  /** Why its settings refuse an address, of a relay whose settings are known here. */
  readonly refuses?: (url: string) => string | undefined
}

/** The result of closing a circuit. */
export interface CircuitClosed extends EndpointRef {
  /** How the circuit was before. */
  readonly was: 'closed' | 'open'
}
