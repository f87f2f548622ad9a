/**
 * How one endpoint does: its circuit, how many attempts it takes in parallel and per second, and since when it fails. Its results change
 * all of that.
 *
 * Attempts in parallel begin with one: of an endpoint that is new here it isn't known whether it responds. Successes double them, failures
 * halve them.
 */
import { isEndpointFailure, type Outcome } from '../../send/outcome.ts'
import type { Settings } from '../../settings.ts'
import type { CircuitRecord, Endpoint, EndpointState, StoredEndpoint } from '../../store/endpoint/relay-endpoint.ts'
import {
  clearFailures,
  type Health,
  healthAfter,
  recordedHealth,
  recordedStanding,
  type Standing,
  standingAfter,
} from './attempt-health.ts'
import { type Circuit, type CircuitChange, createCircuit, type Ticket } from './circuit.ts'

/** Milliseconds for which an endpoint is put off that the proxy makes no connection to, at first and at most. */
const firstProxyPause = 1000
const longestProxyPause = 60_000

export interface HealthParts {
  readonly settings: () => Settings
  readonly timeline: () => number
}

export interface DefinitionEffect {
  /** It was reset or was disabled until now. So its days of failure are over, or it would be disabled again immediately. */
  readonly failuresCleared: boolean
  readonly circuitClosed: boolean
}

const isReset = (endpoint: Endpoint, recorded: number): boolean => endpoint.fresh_starts > recorded

export class EndpointHealth {
  readonly #settings: () => Settings
  readonly #newCircuit: (record?: CircuitRecord) => Circuit
  #circuit: Circuit
  #endpoint: Endpoint
  /** Attempts that its results permit in parallel, and its successes since that changed. */
  #parallel = 1
  #successes = 0
  /** Monotonic milliseconds before which the next attempt may not start. */
  #nextStart = 0
  #current: Health
  #standing: Standing
  /** The receiver requested a pause until then. */
  #pausedUntil: number
  #proxyFailures = 0
  #putOffUntil = 0
  /** Whether the reset that it begins with closes its circuit. */
  readonly circuitClosedAtStart: boolean

  constructor({ endpoint, state }: StoredEndpoint, { settings, timeline }: HealthParts) {
    const circuitSettings = () => ({ threshold: settings().breakerThreshold, cooldown: settings().breakerCooldown })
    const wasReset = isReset(endpoint, state?.fresh_starts ?? 0)
    this.#settings = settings
    this.#endpoint = endpoint
    this.#newCircuit = (record) => createCircuit(circuitSettings, timeline, record)
    this.circuitClosedAtStart = wasReset && state?.breaker.open === true
    this.#circuit = this.#newCircuit(wasReset ? undefined : state?.breaker)
    this.#pausedUntil = wasReset ? 0 : (state?.pausedUntil ?? 0)
    this.#current = recordedHealth(state)
    this.#standing = recordedStanding(this.#current)
  }

  get circuit(): Pick<Circuit, 'permit' | 'begin' | 'probed' | 'end'> {
    return this.#circuit
  }

  get current(): Health {
    return this.#current
  }

  /** The host is notified that these failures will disable it. */
  markReminded(): void {
    this.#current = { ...this.#current, reminded: true }
  }

  get standing(): Standing {
    return this.#standing
  }

  /** The proxy made no connection to it: it is put off, longer each time in a row. */
  putOffByProxy(now: number): void {
    this.#proxyFailures++
    this.#putOffUntil = now + Math.min(longestProxyPause, firstProxyPause * 2 ** Math.min(30, this.#proxyFailures - 1))
  }

  forgetProxy(): void {
    this.#proxyFailures = this.#putOffUntil = 0
  }

  /** Attempts that may be in flight. */
  get limit(): number {
    return Math.min(this.#parallel, this.#ceiling)
  }

  get #ceiling(): number {
    return this.#endpoint.order === 'fifo' ? 1 : this.#settings().maxInFlightPerEndpoint
  }

  /** The state that is kept over restarts. */
  record(): Omit<EndpointState, 'unreadable' | 'news'> {
    return {
      ...this.#current,
      breaker: this.#circuit.snapshot(),
      pausedUntil: this.#pausedUntil,
      fresh_starts: this.#endpoint.fresh_starts,
    }
  }

  /** Until when nothing may be sent, whatever waits; `undefined` if something may. */
  blockedUntil(now: number, monotonic: number, inFlight: number): number | undefined {
    const paused = Math.max(this.#pausedUntil, this.#putOffUntil)
    if (now < paused) return paused
    const permit = this.#circuit.permit()
    if (permit.kind === 'open') return permit.readyAt
    // A probe is alone: attempts from before the opening have to be over, and nothing starts while it is in flight.
    if (inFlight >= (permit.kind === 'closed' ? this.limit : 1)) return Number.POSITIVE_INFINITY
    return monotonic < this.#nextStart ? now + this.#nextStart - monotonic : undefined
  }

  started(monotonic: number): void {
    const { rate_per_second } = this.#endpoint
    // Evenly spaced rather than a bucket that can be emptied in one burst: no window of a second ever sees more.
    if (rate_per_second !== null) this.#nextStart = monotonic + 1000 / rate_per_second
  }

  pauseUntil(time: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, time)
  }

  /** Takes on how the endpoint is defined from now on. */
  define(endpoint: Endpoint, wasDisabled: boolean): DefinitionEffect {
    const wasReset = isReset(endpoint, this.#endpoint.fresh_starts)
    const circuitClosed = wasReset && this.#circuit.permit().kind !== 'closed'
    if (wasReset) {
      this.#circuit = this.#newCircuit()
      this.#pausedUntil = this.#putOffUntil = 0
    }
    const failuresCleared = wasReset || (wasDisabled && endpoint.disabled === null)
    if (failuresCleared) this.#current = clearFailures(this.#current)
    this.#endpoint = endpoint
    this.#limitTo(1)
    this.#nextStart = 0
    return { failuresCleared, circuitClosed }
  }

  /** Takes note of how long an attempt took. */
  ended(outcome: Outcome): void {
    this.#standing = standingAfter(this.#standing, outcome)
  }

  /** Records the result of an attempt that was not aborted. */
  recordOutcome(ticket: Pick<Ticket, 'probe'>, outcome: Outcome, circuit: CircuitChange | undefined, now: number): void {
    if (outcome.result !== 'proxy_failed') this.#proxyFailures = 0
    this.#adaptLimit(ticket, outcome, circuit)
    this.#current = healthAfter(this.#current, outcome, now)
  }

  #adaptLimit(ticket: Pick<Ticket, 'probe'>, outcome: Outcome, circuit: CircuitChange | undefined): void {
    const { result } = outcome
    if (circuit === 'closed') this.#limitTo(1)
    else if (result === 'delivered' && !ticket.probe) this.#succeeded()
    // It gives its slots to others before its circuit opens. If it took its time to fail, it starts over with one.
    const isDoubtful = this.#standing === 'doubtful'
    if (isEndpointFailure(outcome) || (result === 'proxy_failed' && isDoubtful))
      this.#limitTo(isDoubtful ? 1 : Math.max(1, Math.floor(this.limit / 2)))
  }

  /** A round of successes, as many as the limit, doubles the limit. */
  #succeeded(): void {
    if (this.#parallel >= this.#ceiling) return
    this.#successes++
    if (this.#successes >= this.#parallel) this.#limitTo(this.limit * 2)
  }

  #limitTo(parallel: number): void {
    this.#parallel = parallel
    this.#successes = 0
  }
}
