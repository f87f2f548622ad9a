/**
 * Requests of the last day, by network, hour and key, for the overview of the panel. They are in the memory of this process
 * alone, and bounded. A request counts for the network of its key, so one without a valid key counts nowhere.
 */
import { BoundedMap } from '../base/bounded.ts'
import { type Clock, isoTime } from '../base/clock.ts'
import type { Id } from '../storage/table.ts'

/** One hour of a network. */
export interface TrafficHour {
  /** Its beginning. */
  readonly at: string
  /** All requests that got a response, whatever its status. */
  readonly requests: number
  /** Those with a response of 400 to 499. */
  readonly refused: number
  /** Those with a response of 500 to 599. */
  readonly failed: number
}

/** The requests of one key. */
export interface KeyTraffic {
  /** The id of the API key, or the host's name for its own. */
  readonly key: string
  /** In the last hour with a request. */
  readonly requests: number
  /** When it was last used. ISO 8601, UTC. */
  readonly last_request_at: string
  /** The rate limit at the last request; null for a plan without one. */
  readonly limit: {
    /** Requests that are allowed in a minute. */
    readonly per_minute: number
    /** Requests that were left in that minute. */
    readonly remaining: number
    /** When the count starts over. ISO 8601, UTC. */
    readonly resets_at: string
  } | null
}

/** The requests of one network that this process has served. */
export interface Traffic {
  /** When the process began to count. */
  readonly since: string
  /** The last 24 hours, the oldest first; the last one is not over. */
  readonly hours: readonly TrafficHour[]
  /** At most 50 keys, those with the latest requests. */
  readonly keys: readonly KeyTraffic[]
}

const hourMs = 60 * 60 * 1000
const hoursKept = 24
const maxNetworks = 1000
const maxKeys = 50

interface KeyUse {
  readonly hour: number
  requests: number
  at: number
  /** The headers of the rate limit as they were sent. */
  limit: string | undefined
  remaining: string | undefined
  reset: string | undefined
}

interface NetworkUse {
  /** The latest hour with a request, in hours since 1970. */
  hour: number
  /** Requests, refused and failed of each hour, at its place of the day. */
  readonly counts: Uint32Array
  readonly keys: Map<string, KeyUse>
}

const newUse = (hour: number): KeyUse => ({
  ...{ hour, requests: 0, at: 0 },
  ...{ limit: undefined, remaining: undefined, reset: undefined },
})

export function trafficCounter(clock: Clock) {
  const began = clock.now()
  const networks = new BoundedMap<Id, NetworkUse>(maxNetworks)

  function networkAt(network: Id, hour: number): NetworkUse {
    const known = networks.get(network)
    if (known && known.hour >= hour) return known
    const use = known ?? { hour, counts: new Uint32Array(hoursKept * 3), keys: new BoundedMap(maxKeys) }
    for (let place = Math.max(use.hour + 1, hour - hoursKept + 1); place <= hour; place++)
      use.counts.fill(0, (place % hoursKept) * 3, (place % hoursKept) * 3 + 3)
    use.hour = hour
    networks.set(network, use)
    return use
  }

  return {
    /** Counts one request. @param headers of its response */
    count(network: Id, key: string, status: number, headers: Readonly<Record<string, string>>): void {
      const now = clock.now()
      const hour = Math.floor(now / hourMs)
      const { counts, keys } = networkAt(network, hour)
      const slot = (hour % hoursKept) * 3
      counts[slot] = (counts[slot] ?? 0) + 1
      const kind = status >= 500 ? slot + 2 : slot + 1
      if (status >= 400) counts[kind] = (counts[kind] ?? 0) + 1
      const known = keys.get(key)
      const use = known?.hour === hour ? known : newUse(hour)
      if (use !== known) keys.set(key, use)
      use.requests += 1
      use.at = now
      use.limit = headers['ratelimit-limit']
      use.remaining = headers['ratelimit-remaining']
      use.reset = headers['ratelimit-reset']
    },
    /** The requests of one network. */
    of(network: Id): Traffic {
      const hour = Math.floor(clock.now() / hourMs)
      const use = networks.get(network)
      const hours = Array.from({ length: hoursKept }, (_, place) => {
        const at = hour - hoursKept + 1 + place
        const isKept = use !== undefined && at <= use.hour && at > use.hour - hoursKept
        const slot = (at % hoursKept) * 3
        const [requests = 0, refused = 0, failed = 0] = isKept ? use.counts.subarray(slot, slot + 3) : []
        return { at: isoTime(at * hourMs), requests, refused, failed }
      })
      const keys = [...(use?.keys ?? [])].sort(([, one], [, other]) => other.at - one.at)
      return { since: isoTime(began), hours, keys: keys.map(([key, each]) => trafficOf(key, each)) }
    },
  }
}

function trafficOf(key: string, { requests, at, limit, remaining, reset }: KeyUse): KeyTraffic {
  const isLimited = limit !== undefined && remaining !== undefined && reset !== undefined
  const resets_at = isoTime(at + Number(reset ?? 0) * 1000)
  return {
    ...{ key, requests, last_request_at: isoTime(at) },
    limit: isLimited ? { per_minute: Number(limit), remaining: Number(remaining), resets_at } : null,
  }
}
