/**
 * Bytes in flight: those of bodies, from their arrival until the request is answered, and those of answers, until they have
 * left. All of it has one ceiling, and each network has a share of that.
 */
import { ApiError } from '../errors.ts'
import type { Limits } from '../limits.ts'
import type { Id } from '../storage/table.ts'
import type { Incoming } from './exchange.ts'

/** How much is in flight. */
export interface InFlight {
  /** Requests that are being carried out, or whose answer is on its way. */
  readonly requests: number
  readonly bytes: number
  /** The most bytes that were ever in flight at once. */
  readonly peakBytes: number
}

/** The bytes of one request. */
export interface Usage {
  /** From now on its bytes count for this network. */
  countFor(network: Id): void
  /**
   * Counts bytes that have arrived.
   * @throws ApiError 503 when they are more than the ceiling or the network's share allows
   */
  add(bytes: number): void
  /**
   * Asks whether there is room, before anything is made.
   * @param bytes how many are expected, as far as anybody can tell
   * @throws ApiError 503
   */
  requireRoom(bytes?: number): void
  /** The answer takes the place of the body. It is never refused, because its work is done. */
  becomeAnswer(bytes: number): void
  end(): void
}

const retryAfter = { 'retry-after': '2' }
const full = () => new ApiError(503, { error: 'The server has too much in flight. Try again in 2 seconds' }, retryAfter)
const shareTaken = () =>
  new ApiError(503, { error: 'This network has too many bytes in flight. Read the pending answers, then try again' }, retryAfter)

/** @param limits `inFlightBytes` is the ceiling */
export function inFlightCounter({ inFlightBytes, assetBytes, bodyBytes }: Limits) {
  // Half of it, but always room for one upload of the largest size.
  const share = Math.min(inFlightBytes, Math.max(inFlightBytes / 2, assetBytes + bodyBytes))
  const byNetwork = new Map<Id, number>()
  let requests = 0
  let bytes = 0
  let peakBytes = 0

  const add = (network: Id, count: number) => {
    bytes += count
    peakBytes = Math.max(peakBytes, bytes)
    const sum = (byNetwork.get(network) ?? 0) + count
    if (sum === 0) byNetwork.delete(network)
    else byNetwork.set(network, sum)
  }

  /** @throws ApiError 503 when the ceiling is reached already */
  function begin(): Usage {
    if (bytes >= inFlightBytes) throw full()
    requests += 1
    let network: Id = ''
    let own = 0
    let ended = false
    const change = (count: number) => {
      if (count === 0) return
      own += count
      add(network, count)
    }
    return {
      countFor(id) {
        network = id
      },
      add(count) {
        // A reader that continues after its request was answered.
        if (ended) throw full()
        if (bytes + count > inFlightBytes) throw full()
        if ((byNetwork.get(network) ?? 0) + count > share) throw shareTaken()
        change(count)
      },
      requireRoom(count = 1) {
        if (bytes + count > inFlightBytes) throw full()
        if ((byNetwork.get(network) ?? 0) + count > share) throw shareTaken()
      },
      becomeAnswer: (count) => change(count - own),
      end() {
        if (ended) return
        ended = true
        requests -= 1
        change(-own)
      },
    }
  }

  return { begin, figures: (): InFlight => ({ requests, bytes, peakBytes }) }
}

/** A request whose body is counted while it arrives. */
export const countedBody = (incoming: Incoming, usage: Usage): Incoming => ({
  method: incoming.method,
  path: incoming.path,
  search: incoming.search,
  secure: incoming.secure,
  header: (name) => incoming.header(name),
  read: (limit) => readCounted(incoming, limit, usage),
  ...(incoming.parsedBody === undefined ? {} : { parsedBody: incoming.parsedBody }),
})

async function readCounted(incoming: Incoming, limit: number, usage: Usage): Promise<Uint8Array | undefined> {
  usage.requireRoom(Math.min(Number(incoming.header('content-length') ?? 1) || 1, limit))
  let counted = 0
  const body = await incoming.read(limit, (bytes) => {
    usage.add(bytes)
    counted += bytes
  })
  // A reader that reports nothing while it reads.
  if (body && body.length > counted) usage.add(body.length - counted)
  return body
}
