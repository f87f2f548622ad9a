/**
 * Keep-alive connections, one pool per endpoint. Not per origin: of two endpoints on one host, the one that hangs would
 * otherwise hold the connections that the other one waits for.
 */
import { isIP, type Socket } from 'node:net'
import { buildConnector, type Dispatcher, Pool } from 'undici/index.js'
import { allowedAddresses, type GuardSettings, guardedLookup, type Limits, type Resolve } from './guard.ts'
import { BeyondProxy, type HttpProxy, ProxyFailed, type ProxySettings, proxyFor, proxyOf } from './proxy.ts'
import type { ProxyGate } from './proxy-gate.ts'
import { watchResponses } from './responses.ts'
import { noTlsFiles, secureContextOf, type TlsFiles, type TlsNames } from './tls-files.ts'
import { openTunnel, reachProxy, type TunnelOptions } from './tunnel.ts'

export interface Connections {
  /** The pool of an endpoint at an origin; a change of either or of settings begins a new one. */
  to(endpoint: Destination, origin: string): Dispatcher
  /** A new pool of an endpoint: the first request to it has a connection that none had before. Others finish on the old one. */
  renew(endpoint: Destination, origin: string): Dispatcher
  /** Whether a connection to an endpoint is being requested from the proxy. */
  isConnectingToProxy(endpoint: number): boolean
  /** Why the proxy cannot be reached; `undefined` if it can, or there is none. */
  proxyFailure(): Promise<string | undefined>
  /** New pools for everything that begins from now on: what they are made with has changed. */
  renewAll(): void
  /** Lets go of an endpoint's pool once its running requests are done. */
  forget(endpoint: number): void
  close(): Promise<void>
}

/** What decides about the connections of an endpoint. */
export interface Destination extends TlsNames {
  readonly ref: number
  readonly allow_addresses: readonly string[] | null
}

export interface ConnectionSettings extends GuardSettings, ProxySettings {
  /** Seconds for a whole attempt, and so for connecting. */
  readonly timeout: number
  /** Seconds after which a connection takes no further request. */
  readonly maxConnectionAge: number
  /** PEM certificates to trust besides the system's, for development. */
  readonly ca?: string
  /** The address of this machine that connections are made from. */
  readonly sourceAddress?: string
}

export interface Way {
  readonly limits: Limits
  readonly proxy: HttpProxy | undefined
}

/** Through a proxy, the address that connections are made from is of no interest to the endpoint. */
export function wayTo(
  { allow_addresses }: Pick<Destination, 'allow_addresses'>,
  origin: string,
  settings: ConnectionSettings,
): Way {
  const proxy = proxyFor(origin, settings)
  return { proxy, limits: { addresses: allow_addresses, family: proxy ? 0 : isIP(settings.sourceAddress ?? '') } }
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
  /** How many connections are being requested from the proxy. */
  readonly connecting: { count: number }
}

type ConnectTo = Parameters<buildConnector.connector>[0]

/** Whether an endpoint's connections may be used for its present definition. A list is replaced, never changed. */
const goesTheSameWay = (before: Destination, now: Destination): boolean =>
  before.allow_addresses === now.allow_addresses && before.client_identity === now.client_identity && before.ca === now.ca

export function openConnections(
  settings: () => ConnectionSettings,
  resolve: Resolve,
  gate: ProxyGate,
  tlsFiles: () => TlsFiles = () => noTlsFiles,
): Connections {
  const pools = new Map<number, Opened>()
  const closing = new AbortController()

  const millisecondsOf = ({ timeout }: ConnectionSettings): number => Math.ceil(timeout * 1000) + 1000

  const tunnelOptionsOf = (under: ConnectionSettings): TunnelOptions => {
    const { ca, sourceAddress: localAddress } = under
    return { resolve, timeoutMs: millisecondsOf(under), localAddress, ca, signal: closing.signal }
  }

  /** The failure of a connection for an endpoint, with the party to blame for it. */
  function blamed(endpoint: number, error: unknown): unknown {
    if (!(error instanceof ProxyFailed) || closing.signal.aborted) return error
    if (error.fault !== 'unreachable') return gate.failed(endpoint, error) ? new BeyondProxy(error.message) : error
    gate.unreachable(error.message)
    return error
  }

  function open(origin: string, to: Destination, under: ConnectionSettings): Omit<Opened, 'origin' | 'to' | 'under'> {
    const { timeout, maxConnectionAge, ca, sourceAddress: localAddress } = under
    const { limits, proxy } = wayTo(to, origin, under)
    const secureContext = secureContextOf(to, tlsFiles(), ca)
    const connecting = { count: 0 }
    // Our own deadline comes first; this one only keeps a socket that nothing waits for from connecting on and on.
    const milliseconds = millisecondsOf(under)
    const connector = buildConnector({
      lookup: guardedLookup(resolve, settings, closing.signal, limits),
      timeout: milliseconds,
      allowH2: false,
      autoSelectFamilyAttemptTimeout: Math.ceil(timeout * 1000 * partForAnAddress),
      ...(secureContext ? { secureContext } : ca === undefined ? {} : { ca }),
    })

    const tunnelOptions = tunnelOptionsOf(under)

    async function tunnelTo({ hostname, port, protocol }: ConnectTo, through: HttpProxy): Promise<Socket> {
      const addresses = await allowedAddresses(hostname, resolve, settings, limits, closing.signal)
      connecting.count++
      try {
        const number = Number(port || (protocol === 'https:' ? 443 : 80))
        const socket = await openTunnel(through, addresses, number, tunnelOptions)
        gate.worked(to.ref)
        return socket
      } catch (error) {
        throw blamed(to.ref, error)
      } finally {
        connecting.count--
      }
    }

    const through =
      (proxy: HttpProxy): typeof connector =>
      (to, done) => {
        tunnelTo(to, proxy).then(
          (socket) => (to.protocol === 'https:' ? connector({ ...to, httpSocket: socket }, done) : done(null, socket)),
          (error: unknown) => done(error instanceof Error ? error : new Error(String(error)), null),
        )
      }
    const reach = proxy ? through(proxy) : connector
    const connect: typeof connector = (to, done) =>
      // RFC 6066, section 3: the name for TLS has no dot at its end, as names in URLs may.
      reach(to.hostname.endsWith('.') ? { ...to, servername: to.hostname.slice(0, -1) } : to, (...made) => {
        if (made[1]) watchResponses(made[1])
        done(...made)
      })
    const pool = new Pool(origin, {
      connect,
      // Not of the connector, which leaves it to the pool. The way to a proxy has its own.
      ...(proxy || localAddress === undefined ? {} : { localAddress }),
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
    return { pool, connecting }
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
    const opened = { ...open(origin, endpoint, under), origin, to: endpoint, under }
    pools.set(endpoint.ref, opened)
    return opened.pool
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
    isConnectingToProxy: (endpoint) => (pools.get(endpoint)?.connecting.count ?? 0) > 0,
    async proxyFailure() {
      const under = settings()
      if (under.proxy === undefined) return undefined
      try {
        const socket = await reachProxy(proxyOf(under.proxy), tunnelOptionsOf(under))
        socket.destroy()
        return undefined
      } catch (error) {
        return error instanceof ProxyFailed ? error.message : undefined
      }
    },
    renewAll() {
      for (const endpoint of pools.keys()) release(endpoint)
    },
    forget: release,
    async close() {
      closing.abort()
      const all = [...pools.values()]
      pools.clear()
      await Promise.all(all.map(({ pool }) => pool.destroy().catch(() => undefined)))
    },
  }
}
