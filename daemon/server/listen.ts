import { readFile } from 'node:fs/promises'
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { UsageError } from '../usage.ts'

export interface ListenOptions {
  readonly port: number
  readonly host: string
  /** PEM files; both or neither. */
  readonly tlsCert?: string | undefined
  readonly tlsKey?: string | undefined
}

/** A server that listens. */
export interface Listening {
  /** Its origin: `http://127.0.0.1:4000`. */
  readonly url: string
  /** Stops accepting, lets running requests finish, and cuts what has not finished after `graceMilliseconds`. */
  close(graceMilliseconds: number): Promise<void>
}

/**
 * Listens for HTTP, or for HTTPS where a certificate is given.
 * @throws UsageError when the port is taken or the certificate cannot be read
 */
export async function listen(listener: RequestListener, { port, host, tlsCert, tlsKey }: ListenOptions): Promise<Listening> {
  if (Boolean(tlsCert) !== Boolean(tlsKey)) throw new UsageError('--tls-cert and --tls-key belong together')
  const server: Server =
    tlsCert && tlsKey
      ? createHttpsServer({ cert: await readPem('--tls-cert', tlsCert), key: await readPem('--tls-key', tlsKey) }, listener)
      : createHttpServer(listener)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(new UsageError(reasonOf(error, host, port))))
    server.listen(port, host, resolve)
  })
  const address = server.address() as AddressInfo
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return {
    url: `${tlsCert ? 'https' : 'http'}://${name}:${address.port}`,
    close: (graceMilliseconds) =>
      new Promise((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), graceMilliseconds)
        server.close(() => {
          clearTimeout(cut)
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}

async function readPem(option: string, file: string): Promise<Buffer> {
  return readFile(file).catch((error: Error) => {
    throw new UsageError(`${option}: ${error.message}`)
  })
}

const reasonOf = (error: NodeJS.ErrnoException, host: string, port: number): string =>
  error.code === 'EADDRINUSE'
    ? `port ${port} of ${host} is taken: end the other server, or choose another with --port`
    : `cannot listen on ${host}:${port}: ${error.message}`
