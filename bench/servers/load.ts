/** Asking a server for as much as it can give. */
import autocannon from 'autocannon'
import type { Asked } from './scenarios.ts'
import { type Server, usageOf } from './start.ts'

export interface Figures {
  readonly perSecond: number
  readonly p99: number
  /** Processor time of the server's own process for each request, in microseconds. */
  readonly cpu: number
}

const connections = 32
/** Different requests of each connection, where there are different ones. */
const different = 200

/** @throws when an answer is no success: then the figures would mean nothing */
export async function load(server: Server, request: (server: Server) => Asked, seconds: number): Promise<Figures> {
  const before = await usageOf(server)
  const result = await autocannon({
    url: `http://127.0.0.1:${server.port}`,
    connections,
    duration: seconds,
    timeout: 60,
    // Each connection its own, or all would ask for the same record at the same moment.
    setupClient: (client) => client.setRequests(Array.from({ length: different }, () => ({ ...request(server) }))),
  })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${server.name}: ${result.non2xx} answers other than 2xx, ${result.errors} errors`)
  // Whoever needs longer for one answer gets longer.
  if (result.requests.total === 0) return load(server, request, seconds * 5)
  const { cpu } = await usageOf(server)
  return {
    perSecond: result.requests.total / result.duration,
    p99: result.latency.p99,
    cpu: (cpu - before.cpu) / result.requests.total,
  }
}

/** The one in the middle. */
export const middle = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

/** The median of each figure. */
export const median = (all: readonly Figures[]): Figures => ({
  perSecond: middle(all.map(({ perSecond }) => perSecond)),
  p99: middle(all.map(({ p99 }) => p99)),
  cpu: middle(all.map(({ cpu }) => cpu)),
})
