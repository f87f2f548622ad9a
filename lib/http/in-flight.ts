/**
 * Bytes in flight: those of bodies, from their arrival until the request has its response, and those of responses, until they
 * have left. All of it has one ceiling, and each network has a share of that.
 */
import { ApiError } from '../errors.ts'
import type { Limits } from '../limits.ts'
import type { Id } from '../storage/table.ts'

/** How much is in flight. */
export interface InFlight {
  /** Requests that are being carried out, or whose response is on its way. */
  readonly requests: number
  /** Bytes of bodies that are held for those requests and responses. */
  readonly bytes: number
  /** The most bytes that were ever in flight together. */
  readonly peakBytes: number
}

/** The bytes of one request. */
export interface Usage {
  /** From now on its bytes count for this network. @param key the key by which its requests are counted */
  countFor(network: Id, key: string): void
  /** The network that it counts for; `''` before that is clear. */
  readonly network: Id
  readonly key: string
  /**
   * Counts bytes that have arrived.
   * @throws ApiError 503 when they are more than the ceiling or the network's share allows
   */
  add(bytes: number): void
  /**
   * Checks whether there is room, before anything is made.
   * @param bytes how many are expected, as far as is known
   * @throws ApiError 503
   */
  requireRoom(bytes?: number): void
  /** The response takes the place of the body. It is never refused, because its work is done. */
  becomeResponse(bytes: number): void
  end(): void
}

const retryAfter = { 'retry-after': '2' }
const full = () => new ApiError(503, { error: 'The server has too much in flight. Try again in 2 seconds' }, retryAfter)
const shareTaken = () =>
  new ApiError(
    503,
    { error: 'This network has too many bytes in flight. Read the pending responses, then try again' },
    retryAfter,
  )

/** Of one community: the sums, and the ceilings. */
class Counter {
  requests = 0
  bytes = 0
  peakBytes = 0
  readonly #byNetwork = new Map<Id, number>()
  readonly #ceiling: number
  readonly #share: number

  constructor({ inFlightBytes, assetBytes, bodyBytes }: Limits) {
    this.#ceiling = inFlightBytes
    // Half of it, but always room for one upload of the largest size.
    this.#share = Math.min(inFlightBytes, Math.max(inFlightBytes / 2, assetBytes + bodyBytes))
  }

  isFull(): boolean {
    return this.bytes >= this.#ceiling
  }

  /** @throws ApiError 503 */
  requireRoom(network: Id, bytes: number): void {
    if (this.bytes + bytes > this.#ceiling) throw full()
    if ((this.#byNetwork.get(network) ?? 0) + bytes > this.#share) throw shareTaken()
  }

  add(network: Id, bytes: number): void {
    this.bytes += bytes
    this.peakBytes = Math.max(this.peakBytes, this.bytes)
    const sum = (this.#byNetwork.get(network) ?? 0) + bytes
    if (sum === 0) this.#byNetwork.delete(network)
    else this.#byNetwork.set(network, sum)
  }
}

// A class, not an object of closures: one is made for each request.
class CountedUsage implements Usage {
  network: Id = ''
  key = ''
  readonly #counter: Counter
  #own = 0
  #ended = false

  constructor(counter: Counter) {
    this.#counter = counter
    counter.requests += 1
  }

  countFor(network: Id, key: string): void {
    this.network = network
    this.key = key
  }

  add(bytes: number): void {
    // A reader that continues after the response to its request.
    if (this.#ended) throw full()
    this.#counter.requireRoom(this.network, bytes)
    this.#change(bytes)
  }

  requireRoom(bytes = 1): void {
    this.#counter.requireRoom(this.network, bytes)
  }

  becomeResponse(bytes: number): void {
    this.#change(bytes - this.#own)
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#counter.requests -= 1
    this.#change(-this.#own)
  }

  #change(bytes: number): void {
    if (bytes === 0) return
    this.#own += bytes
    this.#counter.add(this.network, bytes)
  }
}

/** @param limits `inFlightBytes` is the ceiling */
export function inFlightCounter(limits: Limits) {
  const counter = new Counter(limits)
  return {
    /** @throws ApiError 503 when the ceiling is reached already */
    begin(): Usage {
      if (counter.isFull()) throw full()
      return new CountedUsage(counter)
    },
    figures(): InFlight {
      const { requests, bytes, peakBytes } = counter
      return { requests, bytes, peakBytes }
    },
  }
}

export type InFlightCounter = ReturnType<typeof inFlightCounter>
