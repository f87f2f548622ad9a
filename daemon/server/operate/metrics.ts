/** The server's figures for Prometheus, on a port of the loopback address. */
import { createServer } from 'node:http'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { InFlight } from '../../../lib/index.ts'
import { listenOnLoopback, namesLoopback } from '../../loopback.ts'
import type { Phase } from '../http/front.ts'

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
 * @param phase asked at each scrape
 * @throws UsageError when the port is taken
 */
export async function startMetrics(port: number, phase: () => Phase): Promise<Metrics> {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const requests = new Counter({
    name: 'folkmoot_requests_total',
    help: 'Finished requests, by operation (`none`: no operation) and class of status; `gone`: the client left first.',
    labelNames: ['operation', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'folkmoot_request_duration_seconds',
    help: 'Duration of requests, by operation.',
    labelNames: ['operation'],
    buckets: [0.005, 0.025, 0.1, 0.5, 2.5, 10],
    registers,
  })
  const inFlight = new Gauge({ name: 'folkmoot_requests_in_flight', help: 'Requests in flight.', registers })
  const faults = new Counter({
    name: 'folkmoot_faults_total',
    help: 'Answers 500 and 503, and faults outside of a request.',
    registers,
  })
  let figures: () => InFlight = () => ({ requests: 0, bytes: 0, peakBytes: 0 })
  new Gauge({
    name: 'folkmoot_in_flight_bytes',
    help: 'Bytes of arriving bodies and unsent answers.',
    registers,
    collect() {
      this.set(figures().bytes)
    },
  })
  new Gauge({
    name: 'folkmoot_ready',
    help: '1 when requests are served, 0 while the server starts or ends.',
    registers,
    collect() {
      this.set(phase() === 'ready' ? 1 : 0)
    },
  })

  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    if (!namesLoopback(request)) return void response.writeHead(403).end()
    if (request.method !== 'GET' || request.url !== '/metrics') return void response.writeHead(404).end()
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    )
  })
  const listening = await listenOnLoopback(server, '--metrics-port', port)
  return {
    ...listening,
    began: () => inFlight.inc(),
    ended({ operation, status, milliseconds }) {
      inFlight.dec()
      requests.inc({ operation: operation ?? 'none', status: status === 0 ? 'gone' : `${Math.floor(status / 100)}xx` })
      durations.observe({ operation: operation ?? 'none' }, milliseconds / 1000)
    },
    fault: () => faults.inc(),
    inFlight(given) {
      figures = given
    },
  }
}
