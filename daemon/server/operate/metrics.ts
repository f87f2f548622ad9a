/** The server's figures for Prometheus, on a port of the loopback address. */
import { createServer } from 'node:http'
import type { InFlight } from '../../../lib/index.ts'
import { listenOnLoopback, namesLoopback } from '../../loopback.ts'
import { contentType, createRegistry } from '../../prometheus.ts'
import type { Phase } from '../http/front.ts'
import { measureProcess } from './process-metrics.ts'

export interface Metrics {
  readonly port: number
  began(): void
  /** @param operation null for no operation */
  ended(request: { readonly operation: string | null; readonly status: number; readonly milliseconds: number }): void
  fault(): void
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
  const requests = registry.counter({
    name: 'folkmoot_requests_total',
    help: 'Finished requests, by operation (`none`: no operation) and class of status; `gone`: the client left first.',
    labelled: true,
  })
  const durations = registry.histogram(
    { name: 'folkmoot_request_duration_seconds', help: 'Duration of requests, by operation.', labelled: true },
    [0.005, 0.025, 0.1, 0.5, 2.5, 10],
  )
  const inFlight = registry.gauge({ name: 'folkmoot_requests_in_flight', help: 'Requests in flight.' })
  const faults = registry.counter({
    name: 'folkmoot_faults_total',
    help: 'Responses 500 and 503, and faults outside of a request.',
  })
  let figures: () => InFlight = () => ({ requests: 0, bytes: 0, peakBytes: 0 })
  const bytes = registry.gauge({ name: 'folkmoot_in_flight_bytes', help: 'Bytes of arriving bodies and unsent responses.' })
  const ready = registry.gauge({ name: 'folkmoot_ready', help: '1 when requests are served, 0 while the server starts or ends.' })
  registry.collect(() => {
    bytes.set(figures().bytes)
    ready.set(phase() === 'ready' ? 1 : 0)
  })

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
    began: () => inFlight.add(),
    ended({ operation, status, milliseconds }) {
      inFlight.add(-1)
      const name = operation ?? 'none'
      requests.add(1, { operation: name, status: status === 0 ? 'gone' : `${Math.floor(status / 100)}xx` })
      durations.observe(milliseconds / 1000, { operation: name })
    },
    fault: () => faults.add(),
    inFlight(given) {
      figures = given
    },
  }
}
