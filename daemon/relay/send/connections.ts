/**
 * Keep-alive connections, one pool per endpoint. Not per origin: of two endpoints on one host, the one that hangs would
 * otherwise hold the connections that the other one waits for.
 */
import type { Socket } from 'node:net'
import { buildConnector, type Dispatcher, Pool } from 'undici/index.js'
import { type GuardSettings, guardedLookup, type Resolve } from './guard.ts'

export interface Connections {
  /** The pool of an endpoint at an origin; a change of origin or settings begins a new one. */
  to(endpoint: number, origin: string): Dispatcher
  /** Lets go of an endpoint's pool once its running requests are done. */
  forget(endpoint: number): void
  close(): Promise<void>
}

export interface ConnectionSettings extends GuardSettings {
  /** Seconds for a whole attempt, and so for connecting. */
  readonly timeout: number
  /** PEM certificates to trust besides the system's, for development. */
  readonly ca?: string
}

/** Pools kept when idle; beyond that the one that was used longest ago is closed. */
const maxPools = 1024
/**
 * Bytes of one answer, whatever they are. Headers and body are limited where they are read. Extensions of chunks, a reason
 * phrase and empty lines are seen by nobody, and may continue as long as the attempt.
 */
const maxBytes = 1024 * 1024
/**
 * Each address of a name has this part of the time for connecting while there are others. Node's own 250 ms are too few for a
 * receiver that is far away. Its other address may be of a kind that this machine does not reach.
 */
const partForAnAddress = 1 / 4

class AnswerTooLong extends Error {
  readonly code = 'FOLKMOOT_ANSWER_TOO_LONG'
}

/** Ends a connection whose present answer is too long. */
function limitAnswers(socket: Socket): void {
  let written = 0
  let begun = 0
  let read = 0
  socket.on('readable', () => {
    // There is one request at a time, so another one has been written when an answer is over.
    if (socket.bytesWritten !== written) begun = read
    written = socket.bytesWritten
    read = socket.bytesRead
    if (read - begun > maxBytes) socket.destroy(new AnswerTooLong())
  })
}

interface Opened {
  readonly origin: string
  /** The settings when it was opened. New ones may refuse its connections. */
  readonly under: ConnectionSettings
  readonly pool: Pool
}

export function openConnections(settings: () => ConnectionSettings, resolve: Resolve): Connections {
  const pools = new Map<number, Opened>()
  const lookup = guardedLookup(resolve, settings)

  function open(origin: string, { timeout, ca }: ConnectionSettings): Pool {
    // Our own deadline comes first; this one only keeps a socket that nobody waits for from connecting on and on.
    const milliseconds = Math.ceil(timeout * 1000) + 1000
    const connector = buildConnector({
      lookup,
      timeout: milliseconds,
      allowH2: false,
      autoSelectFamilyAttemptTimeout: Math.ceil(timeout * 1000 * partForAnAddress),
      ...(ca === undefined ? {} : { ca }),
    })
    const connect: typeof connector = (to, done) =>
      connector(to, (...made) => {
        if (made[1]) limitAnswers(made[1])
        done(...made)
      })
    return new Pool(origin, {
      connect,
      allowH2: false,
      pipelining: 1,
      connections: null,
      // One deadline covers all of an attempt. Undici's own begin anew with each chunk.
      headersTimeout: 0,
      bodyTimeout: 0,
      // Shorter than most servers', or theirs if they say so: the fewer requests meet a socket that is just being closed.
      keepAliveTimeout: 4000,
      keepAliveMaxTimeout: 60_000,
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

  return {
    to(endpoint, origin) {
      const known = pools.get(endpoint)
      const under = settings()
      if (known?.origin === origin && known.under === under) {
        if (pools.size < maxPools / 2) return known.pool
        // Back to the end: a Map keeps the order in which it was filled.
        pools.delete(endpoint)
        pools.set(endpoint, known)
        return known.pool
      }
      release(endpoint)
      const oldest = pools.size >= maxPools ? pools.keys().next().value : undefined
      if (oldest !== undefined) release(oldest)
      const pool = open(origin, under)
      pools.set(endpoint, { origin, under, pool })
      return pool
    },
    forget: release,
    async close() {
      const all = [...pools.values()]
      pools.clear()
      await Promise.all(all.map(({ pool }) => pool.destroy().catch(() => undefined)))
    },
  }
}
