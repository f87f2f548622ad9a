/** Ports for the operator, on the loopback address alone. */
import type { IncomingMessage, Server } from 'node:http'
import { errorCode } from '../adapters/files/errors.ts'
import { CommandFailure, UsageError } from './usage.ts'

export interface LoopbackPort {
  readonly port: number
  /** Ends the connections too. */
  close(): Promise<void>
}

/** Whether a request names this machine as its host: a page in the operator's browser may send requests here under another name. */
export function namesLoopback({ headersDistinct }: IncomingMessage): boolean {
  const [host, another] = headersDistinct['host'] ?? []
  return another === undefined && /^(127\.0\.0\.1|localhost)(:\d+)?$/i.test(host ?? '')
}

export function unusablePort(option: string, port: number, error: Error): string {
  const isTaken = errorCode(error) === 'EADDRINUSE'
  const remedy = `it is taken: end the program that listens there, or choose another with ${option}`
  return `${option} ${port} cannot be used: ${isTaken ? remedy : error.message}`
}

/**
 * Lets a server listen on 127.0.0.1.
 * @param option its name for messages, such as `--metrics-port`
 * @param port 0 for a free one
 * @throws UsageError when the port is taken
 */
export async function listenOnLoopback(server: Server, option: string, port: number): Promise<LoopbackPort> {
  await new Promise<void>((listening, failed) => {
    server.once('error', (error) => {
      const sentence = unusablePort(option, port, error)
      failed(errorCode(error) === 'EADDRINUSE' ? new CommandFailure(sentence) : new UsageError(sentence))
    })
    server.listen(port, '127.0.0.1', listening)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}
