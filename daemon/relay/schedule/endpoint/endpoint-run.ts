/** One endpoint at run time: whether, when and what it may be sent next. */
import type { Outcome } from '../../send/outcome.ts'
import type { Sender } from '../../send/sender.ts'
import type { Endpoint, EndpointState, StoredEndpoint } from '../../store/endpoint/relay-endpoint.ts'
import type { Notice } from '../../store/notice.ts'
import type { Lane, RelayStore, Waiting } from '../../store/store.ts'
import type { Standing } from './attempt-health.ts'
import type { CircuitChange, Permit, Ticket } from './circuit.ts'
import { type CircuitNews, createCircuitNews } from './circuit-news.ts'
import { type DefinitionEffect, EndpointHealth, type HealthParts } from './endpoint-health.ts'
import { EndpointQueue } from './queue.ts'
import { initialState, type SendingState, type StateChange, transition, unreadableFor } from './sending-state.ts'

/** Notices of one kind about one endpoint are at least this far apart, in milliseconds. */
export const noticeInterval = 3_600_000
/** A second suspect, and an endpoint that is not in order yet, are looked at again after so many milliseconds. */
const suspectPause = 50
const orderPause = 1000

/** The next step for an endpoint: a delivery, or nothing until a time (infinity: until something happens). */
export type Next =
  | { readonly kind: 'send'; readonly waiting: Waiting; readonly ticket: Ticket }
  | { readonly kind: 'wait'; readonly until: number }

export interface Situation {
  /** The relay's timeline. */
  readonly now: number
  readonly monotonic: number
  /** Retries hold their share of all slots already. */
  readonly retriesFull: boolean
  /** A delivery that twice was in flight when the process died is in flight: no second one with it. */
  readonly suspectInFlight: boolean
  /** Whether what waits for this endpoint is in its order; nothing is sent before that. */
  readonly isOrdered: boolean
  /** The head of its queue, if it has been read for this tick already. */
  readonly head?: Promise<Waiting | undefined> | undefined
}

/** A delivery that is suspected of having killed the process. */
export const isSuspect = (waiting: Waiting): boolean => waiting.interruptions >= 2

export class EndpointRun {
  readonly health: EndpointHealth
  readonly queue: EndpointQueue
  readonly #readsAtOnce: number
  readonly #sender: Pick<Sender, 'isHeld'>
  readonly #inFlight = new Set<number>()
  /** Deliveries whose results are not recorded yet: the store still calls them waiting. */
  readonly #unrecorded = new Set<number>()
  /** When a notice of a kind was last sent, and how many were due since. */
  readonly #noticed = new Map<Notice['kind'], { readonly at: number; omitted: number }>()
  /** The notices to the host about its circuit. */
  readonly circuitNews: CircuitNews
  #state: SendingState

  constructor(stored: StoredEndpoint, store: RelayStore, parts: HealthParts & { readonly sender: Pick<Sender, 'isHeld'> }) {
    const { endpoint, state } = stored
    this.#readsAtOnce = store.readsAtOnce
    this.#sender = parts.sender
    this.#state = initialState(endpoint, state?.unreadable ?? null)
    this.health = new EndpointHealth(stored, parts)
    this.circuitNews = createCircuitNews(noticeInterval, state?.breaker.open ?? false, state?.news)
    this.queue = new EndpointQueue(endpoint.ref, store, {
      has: (delivery) => this.#inFlight.has(delivery) || this.#unrecorded.has(delivery),
      list: () => [...this.#inFlight, ...this.#unrecorded],
    })
  }

  get endpoint(): Endpoint {
    return this.#state.endpoint
  }

  /** Whether it is sent anything, and if not, why. */
  get state(): SendingState {
    return this.#state
  }

  get unreadable(): string | null {
    return unreadableFor(this.#state)
  }

  get circuit(): Permit['kind'] {
    return this.health.circuit.permit().kind
  }

  /** Whether it is sent nothing, as everything that goes through the proxy, because that cannot be reached. */
  get waitsForProxy(): boolean {
    return this.#sender.isHeld(this.endpoint.url)
  }

  get standing(): Standing {
    return this.health.standing
  }

  get isIdle(): boolean {
    return this.#inFlight.size === 0
  }

  isInFlight({ delivery }: Waiting): boolean {
    return this.#inFlight.has(delivery)
  }

  /** The state that is kept over restarts. */
  record(): EndpointState {
    return { ...this.health.record(), news: this.circuitNews.record, unreadable: this.unreadable }
  }

  transition(change: StateChange): void {
    this.#state = transition(this.#state, change)
  }

  define(endpoint: Endpoint): DefinitionEffect {
    const effect = this.health.define(endpoint, this.endpoint.disabled !== null)
    this.transition({ kind: 'defined', endpoint })
    // It may have been removed and made again in one go: then what was read ahead is gone from the store.
    this.queue.refresh()
    return effect
  }

  /**
   * Whether to send a notice: of a thousand deliveries that die, people want one notice an hour. The log has each of them.
   * @returns how many like it were left out since the last one; `undefined` when it is left out too
   */
  noticeDue(kind: Notice['kind'], now: number): number | undefined {
    const last = this.#noticed.get(kind)
    if (last && now - last.at < noticeInterval) {
      last.omitted++
      return undefined
    }
    this.#noticed.set(kind, { at: now, omitted: 0 })
    return last?.omitted ?? 0
  }

  /** How many deliveries of a lane to read: some rounds. */
  get reach(): number {
    return Math.min(this.#readsAtOnce, 4 * this.health.limit)
  }

  /** Whether a lane has to be read from the store before the next delivery can be picked. Called often: the cheapest check comes first. */
  isHungry(lane: Lane, now: number, monotonic: number): boolean {
    if (!this.queue.isHungry(lane, now) || this.#state.kind !== 'active' || this.endpoint.order === 'fifo') return false
    return this.circuit === 'closed' && this.health.blockedUntil(now, monotonic, this.#inFlight.size) === undefined
  }

  /** Whether its head has to be read before the next delivery can be picked. */
  needsHead(now: number, monotonic: number): boolean {
    if (this.endpoint.order !== 'fifo' || this.#state.kind !== 'active' || this.circuit === 'open') return false
    return this.health.blockedUntil(now, monotonic, this.#inFlight.size) === undefined
  }

  /**
   * Whether a lane is worth reading ahead, because little of it is left in memory and more waits. Not before all results are recorded:
   * a read would miss the retries that they lead to.
   */
  isLow(lane: Lane, now: number): boolean {
    if (this.#unrecorded.size > 0) return false
    if (!this.queue.isHungry(lane, now, this.reach / 2) || this.#state.kind !== 'active') return false
    return this.endpoint.order !== 'fifo' && this.circuit === 'closed'
  }

  /** Chooses and takes the next delivery. */
  async next(situation: Situation): Promise<Next> {
    const { now, monotonic } = situation
    const blocked = this.#blockedUntil(situation)
    if (blocked !== undefined) return wait(blocked)
    const found = await this.#find(situation)
    if (typeof found === 'number') return wait(found)
    if (isSuspect(found) && situation.suspectInFlight) {
      this.queue.expect(found.lane, now)
      return wait(now + suspectPause)
    }
    this.health.started(monotonic)
    this.#inFlight.add(found.delivery)
    return { kind: 'send', waiting: found, ticket: this.health.circuit.begin(found.event) }
  }

  #blockedUntil({ now, monotonic, isOrdered }: Situation): number | undefined {
    if (this.#state.kind !== 'active' || this.waitsForProxy) return Number.POSITIVE_INFINITY
    if (!isOrdered) return now + orderPause
    return this.health.blockedUntil(now, monotonic, this.#inFlight.size)
  }

  #find({ now, retriesFull, head }: Situation): Promise<Waiting | number> {
    if (this.endpoint.order === 'fifo') return this.queue.head(now, head)
    if (this.circuit === 'closed') return this.queue.take(now, this.reach, retriesFull)
    const { end, probed } = this.health.circuit
    return this.queue.probe(end, probed, now)
  }

  notSent({ delivery }: Waiting): void {
    this.#inFlight.delete(delivery)
    this.queue.refresh()
  }

  /** An attempt is over: its result is yet to be recorded. */
  attemptEnded({ delivery }: Waiting, outcome: Outcome): void {
    this.#inFlight.delete(delivery)
    this.#unrecorded.add(delivery)
    this.health.ended(outcome)
  }

  recordOutcome(ticket: Ticket, outcome: Outcome, circuit: CircuitChange | undefined, now: number): void {
    if (outcome.result === 'proxy_failed') this.health.putOffByProxy(now)
    this.health.recordOutcome(ticket, outcome, circuit, now)
  }

  recorded({ delivery }: Waiting): void {
    this.#unrecorded.delete(delivery)
  }

  /** Nothing waits any more for what is in flight. */
  forgetInFlight(): void {
    this.#inFlight.clear()
  }
}

const wait = (until: number): Next => ({ kind: 'wait', until })
