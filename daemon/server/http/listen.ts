import { createServer as createHttpServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { CommandFailure, UsageError } from '../../usage.ts'
import { readCertificate } from './certificate.ts'
import { refusePlainHttp } from './plain-http.ts'
import { refuseInJson, requireHost } from './refusals.ts'

export interface ListenOptions {
  readonly port: number
  readonly host: string
  /** PEM files; both or neither. */
  readonly tlsCert?: string | undefined
  readonly tlsKey?: string | undefined
}

/** How long a connection may keep the server waiting, in milliseconds, and how many there may be. */
export interface ServerBounds {
  /** Until the headers of a request are there. */
  readonly headersTimeout: number
  /** Until the whole request is there. */
  readonly requestTimeout: number
  /** Between two requests. */
  readonly keepAliveTimeout: number
  /** Without a byte in either direction. */
  readonly timeout: number
  readonly connectionsCheckingInterval: number
  readonly maxConnections: number
}

export const serverBounds: ServerBounds = {
  headersTimeout: 30_000,
  // Above the time of the listener for a body: that one responds with a sentence.
  requestTimeout: 130_000,
  // Above the 60 seconds for which proxies keep a connection: the one who may send closes first.
  keepAliveTimeout: 65_000,
  timeout: 120_000,
  connectionsCheckingInterval: 10_000,
  maxConnections: 10_000,
}

/** Milliseconds in which a connection may send its first byte to a server that ends. */
const silentGrace = 100

export interface Listening {
  /** Its origin: `http://127.0.0.1:4000`. */
  readonly url: string
  /** Stops accepting, lets running requests finish, and cuts the rest after `graceMilliseconds`. Idle and unused connections end immediately. */
  close(graceMilliseconds: number): Promise<void>
}

/**
 * Listens for HTTP, or for HTTPS where a certificate is given; then plain HTTP gets a 403 on the same port.
 * @throws UsageError when the port is taken or the certificate cannot be read
 */
export async function listen(
  listener: RequestListener,
  { port, host, tlsCert, tlsKey }: ListenOptions,
  { timeout, maxConnections, ...bounds }: ServerBounds = serverBounds,
): Promise<Listening> {
  if (Boolean(tlsCert) !== Boolean(tlsKey)) throw new UsageError('--tls-cert and --tls-key belong together')
  const options = { ...bounds, requireHostHeader: false }
  const guarded = requireHost(listener)
  const server: Server =
    tlsCert && tlsKey
      ? refusePlainHttp(
          createHttpsServer({ ...(await readCertificate({ tlsCert, tlsKey })), ...options }, guarded),
          bounds.headersTimeout,
        )
      : createHttpServer(options, guarded)
  refuseInJson(server)
  server.timeout = timeout
  server.maxConnections = maxConnections
  // Node lists only connections on which a request has begun.
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  }
  server.on('connection', keep)
  // It counts the bytes that were encrypted, without those of the handshake.
  server.on('secureConnection', keep)
  endOnlyIdleConnections(server)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(refusalOf(error, host, port)))
    server.listen(port, host, resolve)
  })
  const address = server.address() as AddressInfo
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return {
    url: `${tlsCert ? 'https' : 'http'}://${name}:${address.port}`,
    close: (graceMilliseconds) =>
      new Promise((resolve) => {
        const cut = setTimeout(() => {
          for (const socket of sockets) socket.destroy()
        }, graceMilliseconds)
        // A request that is on its way has a moment. A connection that was opened and never used would keep all of the grace.
        const cutSilent = setTimeout(() => {
          for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
        }, silentGrace)
        // A connection that still gets its response ends after that: its client would keep it for all of the grace. 0 is no limit.
        server.keepAliveTimeout = 1
        server.close(() => {
          clearTimeout(cut)
          clearTimeout(cutSilent)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}

/** Node takes a connection for idle once its response is written, and would cut that off for a client that has not read it yet. */
function endOnlyIdleConnections(server: Server): void {
  const open = new Set<Socket>()
  const running = new Set<ServerResponse>()
  // One function for all requests: this is done for each of them.
  function ended(this: ServerResponse): void {
    running.delete(this)
  }
  server.on('request', ({ socket }, response) => {
    if (!open.has(socket)) {
      open.add(socket)
      socket.once('close', () => open.delete(socket))
    }
    running.add(response)
    response.once('close', ended)
  })
  server.closeIdleConnections = () => {
    const busy = new Set([...running].map(({ req }) => req.socket))
    for (const socket of open) if (!busy.has(socket)) socket.destroy()
  }
}

const refusalOf = (error: NodeJS.ErrnoException, host: string, port: number): UsageError =>
  error.code === 'EADDRINUSE'
    ? new CommandFailure(`port ${port} of ${host} is taken: end the other server, or choose another with --port`)
    : new UsageError(`cannot listen on ${host}:${port}: ${error.message}`)
