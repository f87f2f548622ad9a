/**
 * The circuit breaker of one endpoint (specification, sections 3 and 6): cockatiel's ConsecutiveBreaker behind a gate.
 *
 * Terms
 * - **Ticket**: permission for one attempt, to be given back with its result.
 * - **Epoch**: changes with every change of state. A ticket of an older epoch has nothing to say any more.
 * - **Witness**: an event whose failure counts towards opening.
 * - **Probe**: the one attempt that decides whether an open circuit closes. Probes take the oldest and the newest due event in turn.
 * - **Fresh event**: one recorded since the last probe with the newest event. It may be a probe before the cooldown is over.
 *
 * Why a gate: left to itself, cockatiel lets calls made during a probe queue up and rush out together afterwards; a late
 * failure of a call from before the opening re-opens the circuit during the probe; and it measures the cooldown with the
 * wall clock. So attempts run outside of it, only results are fed in, one at a time and only those of the present epoch, and
 * the cooldown is measured here, with monotonic time.
 *
 * When it opens: at the threshold of consecutive failures, if they came from at least two events; one event that an endpoint
 * cannot stomach must not stop the others. But two exceptions keep that rule from holding a dead endpoint's circuit closed:
 * it opens on a single witness when no other event of the endpoint is due (there is nobody else to ask), and in any case at
 * twice the threshold.
 */
import {
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleAll,
  type IBackoff,
  type IHalfOpenAfterBackoffContext,
} from 'cockatiel'

/** What is kept over restarts. */
export interface BreakerRecord {
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
  /** While open: when the next probe is sent at the latest, if something is due then; missing in what earlier versions wrote. */
  readonly readyAt?: number
}

export const closedBreaker: BreakerRecord = { open: false, openedAt: 0, trips: 0, failures: 0, witnesses: [], probed: null }

export interface BreakerSettings {
  /** Consecutive failures that open it. */
  readonly threshold: number
  /** Seconds until the first probe; doubles with every failed one, up to 15 minutes or the cooldown itself if longer. */
  readonly cooldown: number
}

export interface Ticket {
  readonly epoch: number
  readonly probe: boolean
  /** Whether the probe was sent before the cooldown was over. */
  readonly early: boolean
}

/** Which end of the queue a probe comes from. */
export type End = 'oldest' | 'newest'

export type Permit =
  | { readonly kind: 'closed' }
  /** Nothing may be sent until `readyAt` (monotonic milliseconds), except a fresh event as a probe. */
  | { readonly kind: 'open'; readonly readyAt: number }
  /** One probe may be sent. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'probing' }

export type CircuitChange = 'opened' | 'reopened' | 'closed'

export interface Breaker {
  permit(): Permit
  readonly epoch: number
  /** Takes permission for an attempt with this event; unless the circuit is closed that is the probe. */
  begin(event: number, end?: End): Ticket
  /**
   * Gives a ticket back with a result.
   * @param another whether another event of the endpoint is due or on its way, asked only when it matters
   * @param refused whether it failed because the endpoint, which is there, did not want the event: a fresh one is tried soon
   */
  record(
    ticket: Ticket,
    event: number,
    failed: boolean,
    another: () => Promise<boolean>,
    refused?: boolean,
  ): Promise<CircuitChange | undefined>
  /** Gives a ticket back without a result: it was aborted, or it never left this machine. */
  release(ticket: Ticket): void
  /** The event of the last failed probe; another one goes first next time, so that one bad event cannot keep it open. */
  readonly probed: number | null
  /** While open: when a fresh event may be a probe, in monotonic milliseconds; at `readyAt` at the latest. */
  readonly earlyAt: number
  /** Where the next probe comes from: the end that the last one did not come from. */
  readonly end: End
  /** Events recorded since this time of the timeline are fresh: since the last probe with the newest event, or since the opening. */
  readonly freshFrom: number
  snapshot(): BreakerRecord
}

const longestCooldown = 15 * 60
/**
 * A fresh event waits no longer than this for its probe, in seconds, or than the cooldown if that is longer. Receivers refuse events
 * that are more than five minutes old, as a rule: a probe after fifteen minutes would never succeed.
 */
const longestFreshCooldown = 4 * 60
/** Nor longer than so many cooldowns: whoever sets a short one has receivers with short limits. With the default that is the same. */
const freshCooldowns = 8
/** Cockatiel asks `now - openedAt < duration`: this says yes at once, whatever the wall clock did. The gate decides. */
const never = Number.NEGATIVE_INFINITY

class Unwell extends Error {}

/**
 * @param settings read anew at each use, so that a reload takes effect
 * @param monotonic milliseconds that never go back
 * @param timeline milliseconds of the relay's timeline, for what is kept over restarts
 * @param firstEpoch later than every epoch of the breaker that this one replaces: tickets of that one mean nothing here
 */
export function createBreaker(
  settings: () => BreakerSettings,
  monotonic: () => number,
  timeline: () => number,
  record: BreakerRecord = closedBreaker,
  firstEpoch = 0,
): Breaker {
  let threshold = settings().threshold
  let counter = new ConsecutiveBreaker(threshold)
  let witnesses = [...record.witnesses]
  let probed = record.probed
  let newest = record.newest === true
  let alone = false
  let trips = record.trips
  let epoch = firstEpoch
  let probing = false
  let openedAt = record.openedAt
  let freshFrom = record.openedAt

  const cooldown = (): number => {
    const base = settings().cooldown
    return 1000 * Math.max(base, Math.min(longestCooldown, base * 2 ** Math.max(0, trips - 1)))
  }
  const firstCooldown = (): number => Math.min(cooldown(), 1000 * settings().cooldown)
  const freshCooldown = (): number => {
    const base = settings().cooldown
    return Math.min(cooldown(), 1000 * Math.max(base, Math.min(longestFreshCooldown, freshCooldowns * base)))
  }
  // The clock may have been set since: a cooldown neither begins in the future nor is longer than a cooldown.
  // A longer cooldown that comes with a restart is for the probes after the next one: its time has been told to operators.
  const probeAt = Math.min(record.openedAt + cooldown(), record.readyAt ?? Number.POSITIVE_INFINITY)
  let readyAt = monotonic() + Math.min(cooldown(), Math.max(0, probeAt - timeline()))
  let earlyAt = Math.min(readyAt, monotonic() + freshCooldown())

  const backoff: IBackoff<IHalfOpenAfterBackoffContext> = {
    duration: never,
    next({ attempt }) {
      trips = attempt
      return backoff
    },
  }
  const policy = circuitBreaker(handleAll, {
    halfOpenAfter: backoff,
    breaker: {
      get state(): unknown {
        return counter.state
      },
      set state(failures: unknown) {
        counter.state = Number(failures)
      },
      success() {
        counter.success()
        witnesses = []
      },
      failure: () => counter.failure() && (witnesses.length > 1 || alone || counter.state >= 2 * threshold),
    },
    ...(record.open || record.failures > 0
      ? {
          initialState: {
            ownState: record.open
              ? { value: CircuitState.Open, openedAt: 0, attemptNo: Math.max(1, record.trips) }
              : { value: CircuitState.Closed },
            breakerState: record.failures,
          },
        }
      : {}),
  })
  trips = record.trips

  function followSettings(): void {
    if (settings().threshold === threshold) return
    threshold = settings().threshold
    const failures = counter.state
    counter = new ConsecutiveBreaker(threshold)
    counter.state = failures
  }

  const feed = (failed: boolean): Promise<void> =>
    policy
      .execute(() => {
        if (failed) throw new Unwell()
      })
      .catch((error: unknown) => {
        if (!(error instanceof Unwell)) throw error
      })

  return {
    permit() {
      if (policy.state === CircuitState.Closed) return { kind: 'closed' }
      if (probing) return { kind: 'probing' }
      return monotonic() < readyAt ? { kind: 'open', readyAt } : { kind: 'ready' }
    },
    begin(event, end = 'oldest') {
      const probe = policy.state !== CircuitState.Closed
      const early = probe && monotonic() < readyAt
      if (probe) {
        epoch++
        probing = true
        probed = event
        newest = end === 'newest'
        if (newest) freshFrom = timeline()
      }
      return { epoch, probe, early }
    },
    async record(ticket, event, failed, another, refused = false) {
      if (ticket.epoch !== epoch) return undefined
      followSettings()
      const before = policy.state
      if (ticket.early && failed) {
        // It came out of turn: the cooldown goes on as it was.
        probing = false
        epoch++
        earlyAt = monotonic() + (refused ? firstCooldown() : freshCooldown())
        readyAt = Math.max(readyAt, monotonic() + firstCooldown())
        return 'reopened'
      }
      if (failed && witnesses.length < 2 && !witnesses.includes(event)) witnesses.push(event)
      const lone = failed && !ticket.probe && witnesses.length < 2 && counter.state + 1 >= threshold
      alone = lone && !(await another())
      await feed(failed)
      if (ticket.probe) probing = false
      const after = policy.state
      if (before === CircuitState.Closed && after === CircuitState.Closed) return undefined
      epoch++
      if (after === CircuitState.Closed) {
        trips = 0
        probed = null
        newest = false
        return 'closed'
      }
      readyAt = monotonic() + cooldown()
      openedAt = timeline()
      if (!ticket.probe) freshFrom = openedAt
      // A probe with the oldest event puts the next fresh one off by little: it must not become old meanwhile.
      if (refused) earlyAt = monotonic() + firstCooldown()
      else earlyAt = ticket.probe && !newest ? Math.max(earlyAt, monotonic() + firstCooldown()) : monotonic() + freshCooldown()
      return ticket.probe ? 'reopened' : 'opened'
    },
    release(ticket) {
      if (!ticket.probe || ticket.epoch !== epoch) return
      probing = false
      epoch++
      readyAt = monotonic() + cooldown()
      earlyAt = monotonic() + freshCooldown()
    },
    get epoch() {
      return epoch
    },
    get probed() {
      return probed
    },
    get earlyAt() {
      return Math.min(earlyAt, readyAt)
    },
    get end() {
      return newest || probed === null ? 'oldest' : 'newest'
    },
    get freshFrom() {
      return freshFrom
    },
    snapshot() {
      const open = policy.state !== CircuitState.Closed
      const failures = open ? 0 : counter.state
      const next = open ? { readyAt: Math.floor(timeline() + Math.max(0, readyAt - monotonic())) } : {}
      return { open, openedAt: open ? openedAt : 0, trips, failures, witnesses: [...witnesses], probed, newest, ...next }
    },
  }
}
