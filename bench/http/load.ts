/** Sends a server as many requests as it can serve, from another core. */
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { startOn } from '../support/cores.ts'
import type { LoadResult, Task } from './generator.ts'
import type { BenchRequest } from './scenarios.ts'
import { type Server, usageOf } from './start.ts'

export interface Figures {
  readonly perSecond: number
  /** Milliseconds, with all connections busy: to be compared, not what a user waits. */
  readonly p50: number
  readonly p99: number
  /** Processor time of the server's own process for each request, in microseconds. */
  readonly cpu: number
}

/** Concurrent connections by default. */
export const usualConnections = 32
/** Different requests of each connection, where there are different ones. */
const different = 200

/** The bytes on the wire. */
function written({ method, path, headers, body = '' }: BenchRequest): string {
  const length = body ? { 'content-length': String(Buffer.byteLength(body)) } : {}
  const lines = Object.entries({ host: '127.0.0.1', ...headers, ...length }).map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${path} HTTP/1.1`, ...lines, '', body].join('\r\n')
}

export interface Load {
  /** @throws when a response is no success: then the figures would mean nothing */
  measure(server: Server, request: (server: Server) => BenchRequest, seconds: number, connections?: number): Promise<Figures>
  stop(): void
}

export function startLoad(): Load {
  const generator: ChildProcess = startOn('load', join(import.meta.dirname, 'generator.ts'))
  const loadResult = (task: Task): Promise<LoadResult> =>
    new Promise((resolve) => {
      generator.once('message', (message) => resolve(message as LoadResult))
      generator.send(task)
    })

  async function measure(
    server: Server,
    request: (server: Server) => BenchRequest,
    seconds: number,
    connections = usualConnections,
  ): Promise<Figures> {
    const requests = Array.from({ length: connections * different }, () => written(request(server)))
    const before = await usageOf(server)
    const { problem, count, ...figures } = await loadResult({ port: server.port, connections, seconds, requests })
    if (problem !== undefined) throw new Error(`${server.name}: ${problem}`)
    // A server that needs longer for one response gets longer.
    if (count === 0) return measure(server, request, seconds * 5, connections)
    const { cpu } = await usageOf(server)
    return { ...figures, cpu: (cpu - before.cpu) / count }
  }
  return { measure, stop: () => generator.disconnect() }
}
