/**
 * The waiting deliveries of one endpoint. First attempts and retries wait in separate lanes, of which a part is read ahead from
 * the store. The head of a fifo endpoint and the events of probes are looked up one at a time.
 */
import type { Lane, RelayStore, Waiting } from '../../store/store.ts'
import type { End } from './circuit.ts'

/** Of four attempts, this many are first attempts while both lanes have work. */
const firstsPerRound = 3
/** Retries that have their share of all slots are looked at again after this, in milliseconds. */
const retriesFullPause = 50

interface LaneState {
  buffer: Waiting[]
  /** When the store may have something for the buffer; infinite when it has nothing. */
  nextDue: number
  /** The reading that is under way. One from before the store was changed is no longer this one: what it brings is outdated. */
  reading: Reading | undefined
}

const emptyLane = (): LaneState => ({ buffer: [], nextDue: 0, reading: undefined })

export interface Reading {
  /** The deliveries that need not be read. */
  readonly except: readonly number[]
}

/** When there may be something to take: a reading under way is followed by another look. */
const dueOf = ({ nextDue, reading }: LaneState): number => (reading ? Number.POSITIVE_INFINITY : nextDue)

/** Deliveries that are in flight, or whose results are not recorded yet: the store still calls them waiting. */
export interface UnderWay {
  has(delivery: number): boolean
  list(): readonly number[]
}

export class EndpointQueue {
  readonly #endpoint: number
  readonly #store: RelayStore
  readonly #underWay: UnderWay
  readonly #lanes: Record<Lane, LaneState> = { first: emptyLane(), retry: emptyLane() }
  #firsts = 0

  constructor(endpoint: number, store: RelayStore, underWay: UnderWay) {
    this.#endpoint = endpoint
    this.#store = store
    this.#underWay = underWay
  }

  /** Something in the store is due at this time. */
  expect(lane: Lane, due: number): void {
    const state = this.#lanes[lane]
    state.nextDue = Math.min(state.nextDue, due)
  }

  /** Forgets what was read ahead: the store has changed. */
  refresh(): void {
    for (const lane of Object.values(this.#lanes)) Object.assign(lane, emptyLane())
  }

  /**
   * Whether a lane is to be read from the store.
   * @param left at most so many deliveries of it are in memory; with none, nothing can be taken before it is read
   */
  isHungry(lane: Lane, now: number, left = 0): boolean {
    const { buffer, nextDue, reading } = this.#lanes[lane]
    return buffer.length <= left && nextDue <= now && !reading
  }

  /** Marks a lane as being read: later arrivals are expected in addition. */
  reading(lane: Lane): Reading {
    const state = this.#lanes[lane]
    state.nextDue = Number.POSITIVE_INFINITY
    state.reading = { except: [...this.#underWay.list(), ...state.buffer.map(({ delivery }) => delivery)] }
    return state.reading
  }

  /** Takes what a reading of a lane has found: the next `limit` of it. */
  feed(lane: Lane, reading: Reading, found: readonly Waiting[], limit: number, now: number): void {
    const state = this.#lanes[lane]
    if (state.reading !== reading) return
    state.reading = undefined
    const idle = this.#idle(found)
    for (const waiting of idle) if (waiting.due <= now) state.buffer.push(waiting)
    const later = idle.find(({ due }) => due > now)
    this.expect(lane, later?.due ?? (found.length < limit ? Number.POSITIVE_INFINITY : now))
  }

  /** Takes the next due delivery, or returns the time to try again. */
  async take(now: number, limit: number, retriesFull: boolean): Promise<Waiting | number> {
    const { first, retry } = this.#lanes
    if (this.isHungry('first', now)) await this.#fill('first', now, limit)
    if (!retriesFull && this.isHungry('retry', now)) await this.#fill('retry', now, limit)
    const retryFits = retry.buffer.length > 0 && !retriesFull
    const lane = first.buffer.length > 0 && (!retryFits || this.#firsts < firstsPerRound) ? first : retryFits ? retry : undefined
    const waiting = lane?.buffer.shift()
    if (!waiting) return Math.min(dueOf(first), retriesFull ? Math.max(dueOf(retry), now + retriesFullPause) : dueOf(retry))
    this.#firsts = lane === first ? this.#firsts + 1 : 0
    return waiting
  }

  /** The oldest event's delivery, or when that is due: the others wait for it. */
  async head(now: number, reading = this.#store.head(this.#endpoint)): Promise<Waiting | number> {
    const head = await reading
    if (!head) return this.#nothing()
    return head.due > now ? head.due : head
  }

  /**
   * The oldest or the newest event's delivery that is due, or when one is due.
   * @param probed the event of the last probe: another one goes first
   */
  async probe(end: End, probed: number | null, now: number): Promise<Waiting | number> {
    this.refresh()
    const found = (await this.#due(end, probed, now)) ?? (await this.#due(end, null, now))
    if (found) return found
    const lanes = [await this.#peek('first', 1), await this.#peek('retry', 1)]
    const due = Math.min(...lanes.flat().map((waiting) => waiting.due))
    return Number.isFinite(due) ? due : this.#nothing()
  }

  #due(end: End, except: number | null, now: number): Promise<Waiting | undefined> {
    return end === 'newest'
      ? this.#store.newestDue(this.#endpoint, now, except)
      : this.#store.oldestDue(this.#endpoint, now, except)
  }

  async #peek(lane: Lane, limit: number, except: readonly number[] = []): Promise<readonly Waiting[]> {
    const found = await this.#store.peek([this.#endpoint], lane, limit, new Map([[this.#endpoint, except]]))
    return found.get(this.#endpoint) ?? []
  }

  /** Nothing waits in the store until something is expected. */
  #nothing(): number {
    for (const lane of Object.values(this.#lanes)) lane.nextDue = Number.POSITIVE_INFINITY
    return Number.POSITIVE_INFINITY
  }

  async #fill(lane: Lane, now: number, limit: number): Promise<void> {
    const reading = this.reading(lane)
    this.feed(lane, reading, await this.#peek(lane, limit, reading.except), limit, now)
  }

  #idle(found: readonly Waiting[]): Waiting[] {
    return found.filter(({ delivery }) => !this.#underWay.has(delivery))
  }
}
