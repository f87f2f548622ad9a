/** The server's figures for Prometheus, on a port of the loopback address. */
import { createServer } from 'node:http'
import { type RequestMetrics, requestMetrics } from '../../../lib/http/request-metrics.ts'
import type { InFlight } from '../../../lib/index.ts'
import { listenOnLoopback, namesLoopback } from '../../loopback.ts'
import { contentType, createRegistry } from '../../prometheus.ts'
import type { Phase } from '../http/front.ts'
import { measureProcess } from './process-metrics.ts'

export interface Metrics extends Pick<RequestMetrics, 'count' | 'fault'> {
  readonly port: number
  /** Where the bytes in flight are read at each scrape. */
  inFlight(figures: () => InFlight): void
  close(): Promise<void>
}

/**
 * Serves `GET /metrics` on 127.0.0.1.
 * @param phase read at each scrape
 * @throws UsageError when the port is taken
 */
export async function startMetrics(port: number, phase: () => Phase): Promise<Metrics> {
  const registry = createRegistry()
  const endMeasuring = measureProcess(registry)
  let figures: () => InFlight = () => ({ requests: 0, bytes: 0, peakBytes: 0 })
  const { count, fault, metrics } = requestMetrics(() => figures())
  registry.include(metrics)
  const ready = registry.gauge('folkmoot_ready', '1 when requests are served, 0 while the server starts or ends.')
  registry.collect(() => ready.set(phase() === 'ready' ? 1 : 0))

  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    if (!namesLoopback(request)) return void response.writeHead(403).end()
    if (request.method !== 'GET' || request.url !== '/metrics') return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': contentType }).end(registry.text())
  })
  const listening = await listenOnLoopback(server, '--metrics-port', port)
  return {
    ...listening,
    close() {
      endMeasuring()
      return listening.close()
    },
    count,
    fault,
    inFlight(given) {
      figures = given
    },
  }
}
