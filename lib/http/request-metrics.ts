/** The metrics of requests: those of an embedded community, and those of the server. */
import { type Metric, Observed } from '../base/metric.ts'
import type { InFlight } from './in-flight.ts'

/** In seconds. */
const bounds = [0.005, 0.025, 0.1, 0.5, 2.5, 10]

/**
 * Counts requests.
 * @param inFlight read when the metrics are
 */
export function requestMetrics(inFlight: () => InFlight) {
  const operations = new Map<string, { readonly statuses: Map<string, number>; readonly durations: Observed }>()
  let faults = 0
  const single = (name: string, type: Metric['type'], help: string, value: number): Metric => ({
    ...{ name, type, help },
    samples: [{ name, labels: {}, value }],
  })
  return {
    /** @param status 0 if the client left first */
    count(operation: string | undefined, status: number, milliseconds: number): void {
      const name = operation ?? 'none'
      const known = operations.get(name) ?? { statuses: new Map(), durations: new Observed(bounds) }
      operations.set(name, known)
      const { statuses, durations } = known
      const kind = status === 0 ? 'gone' : `${Math.floor(status / 100)}xx`
      statuses.set(kind, (statuses.get(kind) ?? 0) + 1)
      durations.add(milliseconds / 1000)
    },
    fault(): void {
      faults += 1
    },
    metrics(): readonly Metric[] {
      const { requests, bytes } = inFlight()
      const total = 'folkmoot_requests_total'
      const duration = 'folkmoot_request_duration_seconds'
      return [
        {
          ...{ name: total, type: 'counter' },
          help: 'Finished requests, by operation (`none`: no operation) and class of status; `gone`: the client left first.',
          samples: [...operations].flatMap(([operation, { statuses }]) =>
            Array.from(statuses, ([status, value]) => ({ name: total, labels: { operation, status }, value })),
          ),
        },
        {
          ...{ name: duration, type: 'histogram' },
          help: 'Duration of requests, by operation.',
          samples: [...operations].flatMap(([operation, { durations }]) => durations.samples(duration, { operation })),
        },
        single('folkmoot_requests_in_flight', 'gauge', 'Requests in flight.', requests),
        single('folkmoot_faults_total', 'counter', 'Responses 500 and 503, and faults outside of a request.', faults),
        single('folkmoot_in_flight_bytes', 'gauge', 'Bytes of arriving bodies and unsent responses.', bytes),
      ]
    },
  }
}

export type RequestMetrics = ReturnType<typeof requestMetrics>
