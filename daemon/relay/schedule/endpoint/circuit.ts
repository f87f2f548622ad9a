/**
 * The circuit breaker of one endpoint (interface.md, 12): cockatiel's circuit breaker behind a gate. When it
 * opens is in `opening-rule.ts`.
 *
 * Terms
 * - **Ticket**: permission for one attempt, to be given back with its result.
 * - **Epoch**: changes with every change of state. A ticket of an older epoch has nothing to say any more.
 * - **Probe**: the one attempt that decides whether an open circuit closes. Probes take the oldest and the newest due event in
 *   turn.
 * - **Fresh event**: one recorded since the last probe with the newest event. It may be a probe before the cooldown is over.
 *
 * Why a gate: cockatiel lets calls made during a probe queue up and rush out together afterwards. A late failure of a call from
 * before the opening re-opens its circuit during the probe. It measures the cooldown with the wall clock. So attempts run
 * outside of it. Only results are fed in, one at a time, and only those of the present epoch. The cooldown is measured here,
 * with monotonic time (`cooldown.ts`).
 */
import { CircuitState, circuitBreaker, handleWhenResult } from 'cockatiel'
import type { CircuitRecord } from '../../store/endpoint/relay-endpoint.ts'
import { cooldowns } from './cooldown.ts'
import { OpeningRule } from './opening-rule.ts'

/**
 * A circuit that opens again within so many milliseconds of closing goes on where its cooldown was: one success in between does
 * not make the endpoint well.
 */
const calmMs = 5 * 60_000

const closedCircuit: CircuitRecord = { open: false, openedAt: 0, trips: 0, failures: 0, witnesses: [], probed: null }

export interface CircuitSettings {
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

export interface Circuit {
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
  snapshot(): CircuitRecord
}

/** Cockatiel asks `now - openedAt < halfOpenAfter`: with this a probe may always be fed in, whatever the wall clock did. */
const atOnce = Number.NEGATIVE_INFINITY

/**
 * @param settings read again at each use, so that a reload takes effect
 * @param monotonic milliseconds that never go back
 * @param timeline milliseconds of the relay's timeline, for what is kept over restarts
 * @param firstEpoch later than every epoch of the breaker that this one replaces: tickets of that one mean nothing here
 */
export function createCircuit(
  settings: () => CircuitSettings,
  monotonic: () => number,
  timeline: () => number,
  record: CircuitRecord = closedCircuit,
  firstEpoch = 0,
): Circuit {
  const counter = new OpeningRule(() => settings().threshold, record.failures, record.witnesses)
  const openState = { ownState: { value: CircuitState.Open, openedAt: 0, attemptNo: 1 }, breakerState: record.failures }
  const policy = circuitBreaker(
    handleWhenResult((failed) => failed === true),
    { breaker: counter, halfOpenAfter: atOnce, initialState: record.open ? openState : undefined },
  )
  let { trips, probed, openedAt, closedAt } = record
  let newest = record.newest === true
  let epoch = firstEpoch
  let probing = false
  let freshFrom = record.openedAt

  const isClosed = (): boolean => policy.state === CircuitState.Closed
  const after = (which: 'first' | 'whole' | 'fresh'): number => monotonic() + cooldowns(settings().cooldown, trips)[which]

  // The clock may have been set since: a cooldown neither begins in the future nor is longer than a cooldown.
  // A longer cooldown that comes with a restart is for the probes after the next one: its time has been told to operators.
  const { whole } = cooldowns(settings().cooldown, trips)
  const probeAt = Math.min(record.openedAt + whole, record.readyAt ?? Number.POSITIVE_INFINITY)
  let readyAt = monotonic() + Math.min(whole, Math.max(0, probeAt - timeline()))
  let earlyAt = Math.min(readyAt, after('fresh'))

  /** The probe is over, and tickets from before mean nothing any more. */
  function nextEpoch(): void {
    probing = false
    epoch++
  }

  function closed(): 'closed' {
    nextEpoch()
    closedAt = timeline()
    probed = null
    newest = false
    return 'closed'
  }

  function opened(probe: boolean, refused: boolean): CircuitChange {
    nextEpoch()
    const isCalm = !probe && (closedAt === undefined || timeline() - closedAt >= calmMs)
    trips = isCalm ? 1 : trips + 1
    closedAt = undefined
    readyAt = after('whole')
    openedAt = timeline()
    if (!probe) freshFrom = openedAt
    if (refused) earlyAt = after('first')
    // A probe with the oldest event puts the next fresh one off by little: it must not become old in the meantime.
    else earlyAt = probe && !newest ? Math.max(earlyAt, after('first')) : after('fresh')
    return probe ? 'reopened' : 'opened'
  }

  /** A probe that came out of turn failed: the cooldown continues unchanged. */
  function failedEarly(refused: boolean): 'reopened' {
    nextEpoch()
    earlyAt = after(refused ? 'first' : 'fresh')
    readyAt = Math.max(readyAt, after('first'))
    return 'reopened'
  }

  return {
    permit() {
      if (isClosed()) return { kind: 'closed' }
      if (probing) return { kind: 'probing' }
      return monotonic() < readyAt ? { kind: 'open', readyAt } : { kind: 'ready' }
    },
    begin(event, end = 'oldest') {
      if (isClosed()) return { epoch, probe: false, early: false }
      nextEpoch()
      probing = true
      probed = event
      newest = end === 'newest'
      if (newest) freshFrom = timeline()
      return { epoch, probe: true, early: monotonic() < readyAt }
    },
    async record({ epoch: of, probe, early }, event, failed, another, refused = false) {
      if (of !== epoch) return undefined
      if (early && failed) return failedEarly(refused)
      const wasClosed = isClosed()
      if (failed) counter.blame(event)
      counter.isAlone = failed && !probe && counter.needsWitness() && !(await another())
      await policy.execute(() => failed)
      if (wasClosed && isClosed()) return undefined
      return isClosed() ? closed() : opened(probe, refused)
    },
    release({ epoch: of, probe }) {
      if (!probe || of !== epoch) return
      nextEpoch()
      readyAt = after('whole')
      earlyAt = after('fresh')
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
      const { witnesses } = counter
      const since = closedAt === undefined ? {} : { closedAt }
      if (isClosed()) return { open: false, openedAt: 0, trips, failures: counter.state, witnesses, probed, newest, ...since }
      const nextProbe = Math.floor(timeline() + Math.max(0, readyAt - monotonic()))
      return { open: true, openedAt, trips, failures: 0, witnesses, probed, newest, readyAt: nextProbe }
    },
  }
}
