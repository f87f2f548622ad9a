/**
 * Keep-alive connections, one pool per endpoint. Not per origin: of two endpoints on one host, the one that hangs would
 * otherwise hold the connections that the other one waits for.
 */
import { buildConnector, type Dispatcher, Pool } from 'undici/index.js'
import { watchAnswers } from './answers.ts'
import { type EndpointAddresses, type GuardSettings, guardedLookup, type Resolve } from './guard.ts'

export interface Connections {
  /** The pool of an endpoint at an origin; a change of either or of settings begins a new one. */
  to(endpoint: Destination, origin: string): Dispatcher
  /** A new pool of an endpoint: the first request to it has a connection that none had before. Others finish on the old one. */
  renew(endpoint: Destination, origin: string): Dispatcher
  /** Lets go of an endpoint's pool once its running requests are done. */
  forget(endpoint: number): void
  close(): Promise<void>
}

/** What decides about the connections of an endpoint. */
export interface Destination {
  readonly ref: number
  readonly allow_addresses: EndpointAddresses
}

export interface ConnectionSettings extends GuardSettings {
  /** Seconds for a whole attempt, and so for connecting. */
  readonly timeout: number
  /** Seconds after which a connection takes no further request. */
  readonly maxConnectionAge: number
  /** PEM certificates to trust besides the system's, for development. */
  readonly ca?: string
}

/** Pools kept when idle; beyond that the one that was used longest ago is closed. */
const maxPools = 1024
/**
 * Each address of a name has this part of the time for connecting while there are others. Node's own 250 ms are too few for a
 * receiver that is far away. Its other address may be of a kind that this machine does not reach.
 */
const partForAnAddress = 1 / 4

interface Opened {
  readonly origin: string
  readonly to: Destination
  /** The settings when it was opened. New ones may refuse its connections. */
  readonly under: ConnectionSettings
  readonly pool: Pool
}

/** Whether an endpoint's connections may be used for its present definition. A list is replaced, never changed. */
const goesTheSameWay = (before: Destination, now: Destination): boolean => before.allow_addresses === now.allow_addresses

export function openConnections(settings: () => ConnectionSettings, resolve: Resolve): Connections {
  const pools = new Map<number, Opened>()
  const closing = new AbortController()

  function open(origin: string, { allow_addresses }: Destination, { timeout, maxConnectionAge, ca }: ConnectionSettings): Pool {
    // Our own deadline comes first; this one only keeps a socket that nobody waits for from connecting on and on.
    const milliseconds = Math.ceil(timeout * 1000) + 1000
    const connector = buildConnector({
      lookup: guardedLookup(resolve, settings, closing.signal, allow_addresses),
      timeout: milliseconds,
      allowH2: false,
      autoSelectFamilyAttemptTimeout: Math.ceil(timeout * 1000 * partForAnAddress),
      ...(ca === undefined ? {} : { ca }),
    })
    const connect: typeof connector = (to, done) =>
      // RFC 6066, section 3: the name for TLS has no dot at its end, as names in URLs may.
      connector(to.hostname.endsWith('.') ? { ...to, servername: to.hostname.slice(0, -1) } : to, (...made) => {
        if (made[1]) watchAnswers(made[1])
        done(...made)
      })
    return new Pool(origin, {
      connect,
      allowH2: false,
      pipelining: 1,
      connections: null,
      // One deadline covers all of an attempt. Undici's own start over with each chunk.
      headersTimeout: 0,
      bodyTimeout: 0,
      // Shorter than most servers', or theirs if they say so: the fewer requests meet a socket that is just being closed.
      keepAliveTimeout: 4000,
      keepAliveMaxTimeout: 60_000,
      // One that is always busy would stay at an address that the name left long ago.
      clientTtl: maxConnectionAge * 1000,
    })
  }

  function release(endpoint: number): void {
    // Running requests end by themselves, at the latest at their deadline.
    pools
      .get(endpoint)
      ?.pool.close()
      .catch(() => undefined)
    pools.delete(endpoint)
  }

  function renew(endpoint: Destination, origin: string): Pool {
    release(endpoint.ref)
    const oldest = pools.size >= maxPools ? pools.keys().next().value : undefined
    if (oldest !== undefined) release(oldest)
    const under = settings()
    const pool = open(origin, endpoint, under)
    pools.set(endpoint.ref, { origin, to: endpoint, under, pool })
    return pool
  }

  return {
    to(endpoint, origin) {
      const known = pools.get(endpoint.ref)
      if (known?.origin === origin && known.under === settings() && goesTheSameWay(known.to, endpoint)) {
        if (pools.size < maxPools / 2) return known.pool
        // Back to the end: a Map keeps the order in which it was filled.
        pools.delete(endpoint.ref)
        pools.set(endpoint.ref, known)
        return known.pool
      }
      return renew(endpoint, origin)
    },
    renew,
    forget: release,
    async close() {
      closing.abort()
      const all = [...pools.values()]
      pools.clear()
      await Promise.all(all.map(({ pool }) => pool.destroy().catch(() => undefined)))
    },
  }
}
