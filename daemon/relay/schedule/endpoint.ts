/**
 * One endpoint at run time: what waits for it, what is in flight, and whether, when and what it may be sent next.
 */

import type { PlainCredentials } from '../send/credentials.ts'
import type { Outcome } from '../send/outcome.ts'
import type { Settings } from '../settings.ts'
import type { Endpoint, EndpointState, Lane, Notice, RelayStore, StoredEndpoint, Waiting } from '../store/store.ts'
import { type Breaker, type BreakerRecord, createBreaker, type Side, type Ticket, type Transition } from './breaker.ts'
import { createPace, type Pace } from './pace.ts'
import type { Standpoint } from './ready.ts'
import type { Standing } from './shares.ts'

/** Of the deliveries that wait, only so many per lane are in memory. */
const batch = 32
/** An attempt that is over within so many milliseconds was quick. */
const quickMs = 1000
/** Notices of one kind about one endpoint are at least this far apart, in milliseconds. */
const noticeInterval = 3_600_000
/** Of four starts, this many are first attempts while both lanes have work. */
const firstsPerRound = 3

/** What an endpoint says when it is asked for its next delivery: it, or when to ask again (never: something will happen first). */
export type Next =
  | { readonly kind: 'send'; readonly waiting: Waiting; readonly ticket: Ticket }
  | { readonly kind: 'wait'; readonly until: number }

/** What the scheduler knows that one endpoint does not. */
export interface Situation {
  /** The relay's timeline. */
  readonly now: number
  readonly monotonic: number
  /** Retries hold their share of all slots already. */
  readonly retriesFull: boolean
  /** A delivery that twice was in flight when the process died is in flight: no second one beside it. */
  readonly suspectInFlight: boolean
}

interface LaneState {
  buffer: Waiting[]
  /** When the store may have something for the buffer; infinite when it has nothing. */
  nextDue: number
}

/** A delivery that is suspected of having killed the process. */
export const isSuspect = (waiting: Waiting): boolean => waiting.interruptions >= 2

export class EndpointRun {
  endpoint: Endpoint
  breaker: Breaker
  pace: Pace
  /** In flight, delivery by event. */
  readonly inFlight = new Map<number, number>()
  /** Deliveries whose results are not recorded yet: the store still calls them waiting. */
  readonly settling = new Set<number>()
  pausedUntil: number
  lastSuccess: number | null
  failingSince: number | null
  lastFailure: number | null
  lastError: string | null
  /** What it is sent, in plain text; `undefined` until it could be read, and then nothing is sent. */
  credentials: PlainCredentials | undefined
  /** Why its credentials cannot be read. */
  unreadable: string | null
  /** Where it stands among those that may have something to send. */
  queued: Standpoint | undefined
  standing: Standing
  /** When the scheduler asks again by itself. */
  wakeAt = Number.POSITIVE_INFINITY
  removed = false
  /** Whether what waits is in its order; nothing is sent before that. */
  arranged = false
  /** Another relay is to have it: nothing more is sent from here. */
  leaving = false
  /** The youngest event that it took. */
  #youngest: number | null
  /** The event whose probe closed the circuit, until an older one is taken. */
  #closedBy: number | null = null
  /** It refuses old events: the newest go first until nothing older waits. */
  #newestFirst = false
  readonly #lanes: Record<Lane, LaneState> = { first: { buffer: [], nextDue: 0 }, retry: { buffer: [], nextDue: 0 } }
  readonly #settings: () => Settings
  readonly #store: RelayStore
  readonly #told = new Map<Notice['kind'], number>()
  readonly #newBreaker: (record?: BreakerRecord, epoch?: number) => Breaker
  #firsts = 0
  /** A fresh start closed its circuit, and nobody has been told yet. */
  relieved: boolean

  constructor(
    stored: StoredEndpoint,
    settings: () => Settings,
    store: RelayStore,
    monotonic: () => number,
    timeline: () => number,
  ) {
    const { endpoint, state } = stored
    this.endpoint = endpoint
    this.#settings = settings
    this.#store = store
    this.#newBreaker = (record, epoch) =>
      createBreaker(
        () => ({ threshold: settings().breakerThreshold, cooldown: settings().breakerCooldown }),
        monotonic,
        timeline,
        record,
        epoch,
      )
    const afresh = endpoint.fresh_starts > (state?.fresh_starts ?? 0)
    this.breaker = this.#newBreaker(afresh ? undefined : state?.breaker)
    this.relieved = afresh && state?.breaker.open === true
    this.pace = this.#newPace(endpoint)
    this.pausedUntil = afresh ? 0 : (state?.pausedUntil ?? 0)
    this.lastSuccess = state?.lastSuccess ?? null
    this.failingSince = state?.failingSince ?? null
    this.lastFailure = state?.lastFailure ?? null
    this.lastError = state?.lastError ?? null
    this.unreadable = state?.unreadable ?? null
    this.standing = this.lastSuccess !== null && this.failingSince === null ? 'quick' : 'doubtful'
    this.#youngest = state?.youngest ?? null
  }

  #newPace(endpoint: Endpoint): Pace {
    return createPace(() => (endpoint.order === 'fifo' ? 1 : this.#settings().perEndpoint), endpoint.rate_per_second)
  }

  /**
   * Takes on what the outbox says about the endpoint from now on.
   * @returns whether it has a fresh start or was disabled until now: its days of failure are over, or the maintenance would disable it
   * again at once
   */
  update(endpoint: Endpoint): boolean {
    const afresh = endpoint.fresh_starts > this.endpoint.fresh_starts
    const forgiven = afresh || (this.endpoint.disabled !== null && endpoint.disabled === null)
    if (afresh) {
      this.relieved ||= this.breaker.permit().kind !== 'closed'
      this.breaker = this.#newBreaker(undefined, this.breaker.epoch + 1)
      this.pausedUntil = 0
      this.#closedBy = null
    }
    if (forgiven) {
      this.failingSince = null
      this.lastFailure = null
    }
    this.endpoint = endpoint
    this.pace = this.#newPace(endpoint)
    this.removed = false
    // It may have been removed and made again in one go: then what was read ahead is gone from the store.
    this.refresh()
    return forgiven
  }

  get active(): boolean {
    const { enabled, disabled } = this.endpoint
    return !this.removed && !this.leaving && enabled && disabled === null && this.credentials !== undefined
  }

  /** Takes note of how long an attempt took. */
  answered({ result, milliseconds }: Outcome): void {
    if (result === 'aborted') return
    if (result !== 'timeout' && milliseconds < quickMs) this.standing = 'quick'
    else this.standing = result === 'delivered' ? 'slow' : 'doubtful'
  }

  state(): EndpointState {
    const { lastSuccess, failingSince, lastFailure, lastError, pausedUntil, unreadable } = this
    const breaker = this.breaker.snapshot()
    const { fresh_starts } = this.endpoint
    const youngest = this.#youngest
    return { breaker, pausedUntil, lastSuccess, failingSince, lastFailure, lastError, youngest, fresh_starts, unreadable }
  }

  /** Whether to tell people: of a thousand deliveries that die, they want to hear once an hour. The log has each of them. */
  worthTelling(kind: Notice['kind'], now: number): boolean {
    if (now - (this.#told.get(kind) ?? Number.NEGATIVE_INFINITY) < noticeInterval) return false
    this.#told.set(kind, now)
    return true
  }

  /** It took this event. */
  takes(event: number): void {
    this.#youngest = Math.max(event, this.#youngest ?? event)
    if (this.#closedBy !== null && event < this.#closedBy) this.#closedBy = null
  }

  /** Its circuit changed by the result of this event. */
  turns(transition: Transition, event: number): void {
    // It closed with a young event, and what opens it again is older: so it is the age that it does not like.
    if (transition === 'opened' && this.#closedBy !== null && event < this.#closedBy) this.refusesOld()
    this.#closedBy = transition === 'closed' ? event : null
  }

  /** Whether it took an event that is younger than this one. A refusal of this one then tells nothing about the endpoint. */
  hasTakenYounger(event: number): boolean {
    return this.#youngest !== null && event < this.#youngest
  }

  /** It refused an event though it took a younger one: what is young goes first, before that is too old as well. */
  refusesOld(): void {
    this.#newestFirst = this.endpoint.order !== 'fifo'
  }

  /** Something in the store is due at this time. */
  expect(lane: Lane, due: number): void {
    const state = this.#lanes[lane]
    // What comes now is younger than what was read ahead.
    if (lane === 'first' && this.#newestFirst) state.buffer = []
    state.nextDue = Math.min(state.nextDue, due)
  }

  /** Forgets what was read ahead: somebody else changed the store. */
  refresh(): void {
    for (const lane of Object.values(this.#lanes)) {
      lane.buffer = []
      lane.nextDue = 0
    }
  }

  /** Whether another event is due or in flight: a possible second witness for the breaker. */
  async hasOther(event: number, now: number): Promise<boolean> {
    for (const other of this.inFlight.values()) if (other !== event) return true
    for (const { buffer } of Object.values(this.#lanes)) if (buffer.some((waiting) => waiting.event !== event)) return true
    return (await this.#store.oldestDue(this.endpoint.ref, now, event)) !== undefined
  }

  /** Whether a lane has to be read from the store before the next delivery can be picked. */
  hungry(lane: Lane, now: number, monotonic: number): boolean {
    const { buffer, nextDue } = this.#lanes[lane]
    if (buffer.length > 0 || nextDue > now || !this.active || !this.arranged || now < this.pausedUntil) return false
    if (lane === 'first' && this.#newestFirst) return false
    if (this.endpoint.order === 'fifo' || this.breaker.permit().kind !== 'closed') return false
    return this.inFlight.size < this.pace.limit && monotonic >= this.pace.nextStart
  }

  /** How many deliveries of a lane to read: some rounds, and those that are on their way, which are read along. */
  get reach(): number {
    return Math.min(batch, 4 * this.pace.limit) + this.inFlight.size + this.settling.size
  }

  /** Takes what was read of a hungry lane: the next `limit` of it. */
  feed(lane: Lane, found: readonly Waiting[], limit: number, now: number): void {
    const state = this.#lanes[lane]
    const idle = found.filter(({ delivery }) => !this.inFlight.has(delivery) && !this.settling.has(delivery))
    state.buffer = idle.filter(({ due }) => due <= now)
    const later = idle.find(({ due }) => due > now)
    this.expect(lane, later?.due ?? (found.length < limit ? Number.POSITIVE_INFINITY : now))
  }

  /** What to send next, and takes it. */
  async next(situation: Situation): Promise<Next> {
    const { now, monotonic } = situation
    if (!this.active) return wait(Number.POSITIVE_INFINITY)
    if (!this.arranged) return wait(now + 1000)
    if (now < this.pausedUntil) return wait(this.pausedUntil)
    const permit = this.breaker.permit()
    if (permit.kind === 'probing') return wait(Number.POSITIVE_INFINITY)
    const { earlyAt } = this.breaker
    if (permit.kind === 'open' && monotonic < earlyAt) return wait(now + earlyAt - monotonic)
    // Late attempts from before the opening have to be gone, or the probe would not be alone.
    if (this.inFlight.size >= (permit.kind === 'closed' ? this.pace.limit : 1)) return wait(Number.POSITIVE_INFINITY)
    if (monotonic < this.pace.nextStart) return wait(now + this.pace.nextStart - monotonic)

    const fifo = this.endpoint.order === 'fifo'
    const side = permit.kind === 'open' ? 'newest' : this.breaker.side
    const found =
      permit.kind === 'open'
        ? ((await this.#fresh(now)) ?? now + permit.readyAt - monotonic)
        : fifo
          ? await this.#head(now)
          : permit.kind === 'ready'
            ? await this.#probe(now, side)
            : await this.#pick(situation)
    if (typeof found === 'number') return wait(found)
    if (isSuspect(found) && situation.suspectInFlight) {
      this.expect(found.lane, now)
      return wait(now + 50)
    }
    this.pace.started(monotonic)
    this.inFlight.set(found.delivery, found.event)
    return { kind: 'send', waiting: found, ticket: this.breaker.begin(found.event, side) }
  }

  /** The oldest event's, or when that is due: the others wait for it. */
  async #head(now: number): Promise<Waiting | number> {
    const head = await this.#store.head(this.endpoint.ref)
    if (!head) return this.#nothing()
    return head.due > now ? head.due : head
  }

  /** The newest event, if it was recorded since the last probe of that kind. */
  async #fresh(now: number): Promise<Waiting | undefined> {
    const { ref, order } = this.endpoint
    const found = order === 'fifo' ? await this.#store.head(ref) : await this.#store.newestDue(ref, now, this.breaker.probed)
    const fresh =
      found && found.lane === 'first' && found.attempts === 0 && found.due <= now && found.due >= this.breaker.freshFrom
    if (fresh) this.refresh()
    return fresh ? found : undefined
  }

  /** The oldest or the newest event that is due, another one than the last failed probe's if there is one. */
  async #probe(now: number, side: Side): Promise<Waiting | number> {
    const { ref } = this.endpoint
    this.refresh()
    const look = (except: number | null) =>
      side === 'newest' ? this.#store.newestDue(ref, now, except) : this.#store.oldestDue(ref, now, except)
    const found = (await look(this.breaker.probed)) ?? (await look(null))
    if (found) return found
    const lanes = [await this.#store.peek([ref], 'first', 1), await this.#store.peek([ref], 'retry', 1)]
    const due = Math.min(...lanes.flatMap((lane) => lane.get(ref) ?? []).map((waiting) => waiting.due))
    return Number.isFinite(due) ? due : this.#nothing()
  }

  #nothing(): number {
    for (const lane of Object.values(this.#lanes)) lane.nextDue = Number.POSITIVE_INFINITY
    return Number.POSITIVE_INFINITY
  }

  async #pick({ now, retriesFull }: Situation): Promise<Waiting | number> {
    const { first, retry } = this.#lanes
    if (first.buffer.length === 0 && first.nextDue <= now) await this.#fillFirst(now)
    if (retry.buffer.length === 0 && retry.nextDue <= now && !retriesFull) await this.#fill('retry', now)
    const retryFits = retry.buffer.length > 0 && !retriesFull
    const lane = first.buffer.length > 0 && (!retryFits || this.#firsts < firstsPerRound) ? first : retryFits ? retry : undefined
    const waiting = lane?.buffer.shift()
    if (!waiting) return Math.min(first.nextDue, retriesFull ? Math.max(retry.nextDue, now + 50) : retry.nextDue)
    this.#firsts = lane === first ? this.#firsts + 1 : 0
    return waiting
  }

  async #fillFirst(now: number): Promise<void> {
    if (this.#newestFirst) {
      this.reads('first')
      const found = await this.#store.newestFirst(this.endpoint.ref, now, this.reach)
      const idle = found.filter(({ delivery }) => !this.inFlight.has(delivery) && !this.settling.has(delivery))
      this.#newestFirst = idle.length > 0
      const state = this.#lanes.first
      state.buffer = idle
      state.nextDue = now
      if (this.#newestFirst) return
    }
    await this.#fill('first', now)
  }

  async #fill(lane: Lane, now: number): Promise<void> {
    const { reach } = this
    const { ref } = this.endpoint
    this.reads(lane)
    this.feed(lane, (await this.#store.peek([ref], lane, reach)).get(ref) ?? [], reach, now)
  }

  /** Says that a lane is being read: what is expected from now on is expected in addition. */
  reads(lane: Lane): void {
    this.#lanes[lane].nextDue = Number.POSITIVE_INFINITY
  }
}

const wait = (until: number): Next => ({ kind: 'wait', until })
