/**
 * The circuit breaker of one endpoint (interface.md, 12): cockatiel's, which runs every attempt.
 *
 * It opens after consecutive failures. After a cooldown, which doubles, one attempt decides whether it closes: the **probe**. Probes
 * take the oldest and the newest due event in turn.
 *
 * Three properties of cockatiel decide how it is used:
 * - Calls during a probe queue up behind it and rush out together. So the scheduler starts nothing while a probe is in flight, and an
 *   attempt that was chosen before the opening isn't made.
 * - A late failure of a call from before the opening opens the circuit again during the probe. So each opening has a new policy, and
 *   late results go to an abandoned one.
 * - It measures the cooldown with the wall clock, which jumps. So its backoff says only whether the cooldown is over, on the relay's
 *   timeline.
 */
import {
  BrokenCircuitError,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  ExponentialBackoff,
  handleType,
  type IBackoff,
  type IBackoffFactory,
  noJitterGenerator,
} from 'cockatiel'
import { isEndpointFailure, isNoVerdict, type Outcome, unsent } from '../../send/outcome.ts'
import type { CircuitRecord } from '../../store/endpoint/relay-endpoint.ts'

/**
 * A circuit that opens again within so many milliseconds of closing continues with its last cooldown: one success in between does
 * not make the endpoint well.
 */
const calmMs = 5 * 60_000
const longestCooldownMs = 15 * 60_000

const closedCircuit: CircuitRecord = { open: false, openedAt: 0, trips: 0, failures: 0, witnesses: [], probed: null }

export interface CircuitSettings {
  /** Consecutive failures that open it. */
  readonly threshold: number
  /** Seconds until the first probe; doubles with every failed one, up to 15 minutes or the cooldown itself if longer. */
  readonly cooldown: number
}

/** Which end of the queue a probe comes from. */
export type End = 'oldest' | 'newest'

export type Permit =
  | { readonly kind: 'closed' }
  /** Nothing may be sent until `readyAt`, on the timeline. */
  | { readonly kind: 'open'; readonly readyAt: number }
  /** One probe may be sent. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'probing' }

export type CircuitChange = 'opened' | 'reopened' | 'closed'

/** Permission for one attempt. */
export interface Ticket {
  readonly probe: boolean
  /** Makes the attempt, unless the circuit has opened since: then its outcome is `aborted`. */
  run(attempt: () => Promise<Outcome>): Promise<Attempted>
}

export interface Attempted {
  readonly outcome: Outcome
  readonly circuit: CircuitChange | undefined
}

export interface Circuit {
  permit(): Permit
  /** Takes permission for an attempt with this event; unless the circuit is closed, that is the probe. */
  begin(event: number): Ticket
  /** The event of the last failed probe; another one goes first next time, so that one bad event cannot keep it open. */
  readonly probed: number | null
  /** Where the next probe comes from: the end that the last one did not come from. */
  readonly end: End
  snapshot(): CircuitRecord
}

/** Opens at the threshold after failures of two events, or at twice the threshold: one bad event must not stop the others. */
class FailingEvents extends ConsecutiveBreaker {
  readonly #threshold: () => number
  events: readonly number[]

  constructor(threshold: () => number, events: readonly number[]) {
    super(threshold())
    this.#threshold = threshold
    this.events = events
  }

  add(event: number): void {
    if (this.events.length < 2 && !this.events.includes(event)) this.events = [...this.events, event]
  }

  override success(): void {
    super.success()
    this.events = []
  }

  override failure(): boolean {
    super.failure()
    const threshold = this.#threshold()
    return this.state >= threshold && (this.events.length > 1 || this.state >= 2 * threshold)
  }
}

/** What cockatiel sees of an attempt that wasn't delivered. */
class Failed extends Error {
  readonly outcome: Outcome

  constructor(outcome: Outcome) {
    super(outcome.reason)
    this.outcome = outcome
  }
}

const openedSince = unsent('aborted', 'the circuit has opened since')

function outcomeOf(error: unknown): Outcome {
  if (error instanceof Failed) return error.outcome
  if (error instanceof BrokenCircuitError) return openedSince
  throw error
}

/**
 * @param settings read again at each use, so that a reload takes effect
 * @param timeline milliseconds of the relay's timeline
 */
export function createCircuit(
  settings: () => CircuitSettings,
  timeline: () => number,
  record: CircuitRecord = closedCircuit,
): Circuit {
  let { trips, probed, openedAt, closedAt } = record
  let newest = record.newest === true
  let readyAt = 0

  function onTimeline(backoff: IBackoff<unknown>): IBackoff<unknown> {
    readyAt = timeline() + backoff.duration
    return {
      get duration() {
        return timeline() < readyAt ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
      },
      next: (context) => onTimeline(backoff.next(context)),
    }
  }

  function cooldowns(): IBackoffFactory<unknown> {
    const initialDelay = 1000 * settings().cooldown
    const maxDelay = Math.max(initialDelay, longestCooldownMs)
    const backoff = new ExponentialBackoff({ generator: noJitterGenerator, initialDelay, maxDelay })
    return { next: () => onTimeline(backoff.next()) }
  }

  function newPolicy({ open, failures, witnesses }: Pick<CircuitRecord, 'open' | 'failures' | 'witnesses'>) {
    const failing = new FailingEvents(() => settings().threshold, witnesses)
    const ownState = open ? { value: CircuitState.Open, openedAt: 0, attemptNo: trips } : { value: CircuitState.Closed }
    const policy = circuitBreaker(
      handleType(Failed, ({ outcome }) => isEndpointFailure(outcome)),
      { breaker: failing, halfOpenAfter: cooldowns(), initialState: { ownState, breakerState: failures } },
    )
    return { policy, failing }
  }

  let current = newPolicy(record)
  // What was recorded may be from a clock that was set since, or from before another setting.
  readyAt = Math.min(readyAt, record.readyAt ?? readyAt)

  const isClosed = (): boolean => current.policy.state === CircuitState.Closed

  /** Begins a cooldown. */
  function open(): void {
    current = newPolicy({ open: true, failures: 0, witnesses: [] })
  }

  async function run(event: number, probe: boolean, attempt: () => Promise<Outcome>): Promise<Attempted> {
    const { policy, failing } = current
    if (!probe && !isClosed()) return { outcome: openedSince, circuit: undefined }
    const outcome = await policy
      .execute(async () => {
        const made = await attempt()
        if (made.result === 'delivered') return made
        if (isEndpointFailure(made)) failing.add(event)
        throw new Failed(made)
      })
      .catch(outcomeOf)
    return { outcome, circuit: policy === current.policy ? changeBy(outcome, probe) : undefined }
  }

  function changeBy(outcome: Outcome, probe: boolean): CircuitChange | undefined {
    if (isNoVerdict(outcome)) {
      if (probe) open()
      return undefined
    }
    if (isEndpointFailure(outcome)) return isClosed() ? undefined : opened(probe)
    return probe ? closed() : undefined
  }

  function opened(probe: boolean): CircuitChange {
    const isCalm = !probe && (closedAt === undefined || timeline() - closedAt >= calmMs)
    trips = isCalm ? 1 : trips + 1
    closedAt = undefined
    openedAt = timeline()
    open()
    return probe ? 'reopened' : 'opened'
  }

  function closed(): 'closed' {
    closedAt = timeline()
    probed = null
    newest = false
    return 'closed'
  }

  const endOfNext = (): End => (newest || probed === null ? 'oldest' : 'newest')

  return {
    permit() {
      if (isClosed()) return { kind: 'closed' }
      if (current.policy.state === CircuitState.HalfOpen) return { kind: 'probing' }
      return timeline() < readyAt ? { kind: 'open', readyAt } : { kind: 'ready' }
    },
    begin(event) {
      const probe = !isClosed()
      if (probe) {
        newest = endOfNext() === 'newest'
        probed = event
      }
      return { probe, run: (attempt) => run(event, probe, attempt) }
    },
    get probed() {
      return probed
    },
    get end() {
      return endOfNext()
    },
    snapshot() {
      const common = { openedAt, trips, probed, newest }
      if (!isClosed()) return { ...common, open: true, failures: 0, witnesses: [], readyAt }
      const { state: failures, events: witnesses } = current.failing
      return { ...common, open: false, failures, witnesses, ...(closedAt === undefined ? {} : { closedAt }) }
    },
  }
}
