/**
 * Health, metrics and control over HTTP, on the loopback address only. Health and metrics are for anybody on this machine;
 * everything else needs the control token.
 */
import * as v from 'valibot'
import { matchRoute, segmentsOf } from '../../../../lib/base/match-route.ts'
import { ApiError } from '../../../../lib/errors.ts'
import { calls } from '../../../../lib/relay/calls.ts'
import { auditedHeader } from '../../../../lib/relay/control-client.ts'
import {
  type ControlRequest,
  type ControlResponse,
  controlServer,
  nothingHere,
  refusal,
} from '../../../control/control-server.ts'
import { listenOnLoopback, namesLoopback } from '../../../loopback.ts'
import { UsageError } from '../../../usage.ts'
import { relayAdmin } from '../../admin/admin.ts'
import { embeddedBackend } from '../../admin/backend.ts'
import { checkKnown, checkNames, problemsOf } from '../../admin/filter.ts'
import { AuditUnwritten, actingAs } from '../../admin/trail.ts'
import type { RelayEvents } from '../../events.ts'
import { type Relay, stuckLimit } from '../../relay.ts'
import type { Metrics } from '../metrics.ts'
import { controlToken } from './control-token.ts'

export interface Control {
  readonly port: number
  close(): Promise<void>
}

export interface ControlParts {
  readonly relay: Relay
  readonly metrics: Metrics
  readonly outbox: string
  readonly port: number
  /** Called with the reason why an operation failed, which the response leaves out. */
  readonly onFault?: RelayEvents['onFault']
}

/** Concurrent calls. */
const mostConcurrent = 64

/** The person behind a request, for the audit: `control:ada`. A caller that leaves the lines by itself is null. */
const actorOf = ({ headers, actor = 'operator' }: ControlRequest): string | null =>
  headers[auditedHeader] === undefined ? `control:${actor}` : null

/** The parameters of a query, each of which may be given once. @throws UsageError */
function queryOf(params: URLSearchParams): object {
  const names = [...params.keys()]
  const twice = names.find((name, place) => names.indexOf(name) !== place)
  if (twice !== undefined)
    throw new UsageError(`a parameter may be given once${/^\w{1,40}$/.test(twice) ? `: \`${twice}\` is there twice` : ''}`)
  return Object.fromEntries(params)
}

/**
 * Listens on 127.0.0.1.
 *
 * `GET /livez`, `GET /readyz`, `GET /metrics`; with `Authorization: Bearer <token>` each call of `calls`. Each change leaves lines
 * of the audit, unless its caller does so.
 * @throws UsageError when the port is taken
 */
export async function startControl({ relay, metrics, outbox, port, onFault = () => undefined }: ControlParts): Promise<Control> {
  const admin = relayAdmin(outbox, embeddedBackend(relay))
  let running = 0

  /** Calls share a connection to the store: a queue that only grows would help no one. */
  async function oneOfFew<T>(work: () => Promise<T>): Promise<T> {
    if (running >= mostConcurrent) throw new ApiError(503, { error: 'too many requests are in progress; try again in a moment' })
    running++
    try {
      return await work()
    } finally {
      running--
    }
  }

  async function control(request: ControlRequest): Promise<ControlResponse> {
    const { method, url } = request
    const query = queryOf(url.searchParams)
    const { route, params } = matchRoute(Object.values(calls), method, segmentsOf(url.pathname))
    if (!route) return nothingHere
    const given = route.method === 'GET' ? query : await request.body()
    if (route.method === 'POST') checkNames([], query)
    checkNames(
      route.names.filter((name) => params[name] === undefined),
      given,
    )
    const input = { ...given, ...params }
    try {
      // An empty list would pass for good news; in one network, an endpoint may not be known yet.
      if (route === calls.list && !('network_id' in input))
        await checkKnown(await admin.store(), v.parse(calls.list.input, input))
      const done = await route.handle(actingAs(admin, actorOf(request)), input)
      return done ? { status: 200, body: done } : refusal(404, 'there is no such thing')
    } catch (error) {
      throw v.isValiError<v.GenericSchema>(error) ? problemsOf(error, input) : error
    }
  }

  /** Health and figures. */
  async function open({ method, url: { pathname } }: ControlRequest): Promise<ControlResponse | undefined> {
    if (method !== 'GET' && method !== 'HEAD') return undefined
    const alive = relay.stuckFor < stuckLimit
    if (pathname === '/livez') return { status: alive ? 200 : 503, body: { alive } }
    if (pathname === '/readyz') return { status: relay.ready ? 200 : 503, body: { ready: relay.ready } }
    return pathname === '/metrics' ? { status: 200, body: await metrics.text(), contentType: metrics.contentType } : undefined
  }

  const server = controlServer({
    ...{ token: controlToken(outbox), isAddressed: namesLoopback, open, onFault },
    respond: (request) => oneOfFew(() => control(request)),
    statusOf: (error) => (error instanceof AuditUnwritten ? 503 : undefined),
  })
  const listening = await listenOnLoopback(server, '--control-port', port)
  return {
    port: listening.port,
    async close() {
      await listening.close()
      await admin.close()
    },
  }
}
