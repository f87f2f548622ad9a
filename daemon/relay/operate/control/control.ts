/**
 * Health, metrics and control over HTTP, on the loopback address only. Health and metrics are for anybody on this machine;
 * everything else wants the key.
 */
import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { matchRoute, segmentsOf } from '../../../../lib/base/match-route.ts'
import { listenOnLoopback, namesLoopback } from '../../../loopback.ts'
import { UsageError } from '../../../usage.ts'
import type { RelayEvents } from '../../events.ts'
import { type Relay, stuckLimit } from '../../relay.ts'
import type { Metrics } from '../metrics.ts'
import { queryOf } from '../tasks/delivery-selection.ts'
import { AuditUnwritten } from '../tasks/trail.ts'
import { relayViewOf } from '../view/of-relay.ts'
import { jsonOf } from './control-body.ts'
import { actorOf, auditedResends } from './control-changes.ts'
import { controlKey } from './control-key.ts'
import { announcePort, withdrawPort } from './control-port.ts'
import { controlRoutes } from './control-routes.ts'
import { viewAnswer } from './view-routes.ts'

export interface Control {
  readonly port: number
  close(): Promise<void>
}

export interface ControlParts {
  readonly relay: Relay
  readonly metrics: Metrics
  readonly outbox: string
  readonly port: number
  /** Told why an operation failed, which the answer does not say. */
  readonly onFault?: RelayEvents['onFault']
}

interface Answer {
  readonly status: number
  readonly body: object
}

/** Calls of panels that are answered at the same time. */
const mostAsked = 64

class Busy extends Error {
  override readonly name = 'Busy'
}

const nothingSuch: Answer = { status: 404, body: { error: 'this network has no such thing' } }
const nothingHere: Answer = { status: 404, body: { error: 'there is nothing here' } }
const noEndpoint: Answer = { status: 404, body: { error: 'there is no such endpoint' } }

/** The address of a request; null for a malformed one, such as `//`. */
const urlOf = ({ url = '/' }: IncomingMessage): URL | null => URL.parse(url, 'http://127.0.0.1')

/**
 * Listens on 127.0.0.1.
 *
 * `GET /livez`, `GET /readyz`, `GET /metrics`; with `Authorization: Bearer <key>`: `GET /status`, `GET /deliveries`,
 * `POST /replay`, `POST /networks/{id}/endpoints/{id}/` with `test`, `enable`, `disable`, `close-circuit` or `skip`, and the
 * calls of a panel. Each change leaves lines of the audit, unless its caller does so.
 * @throws UsageError when the port is taken
 */
export async function startControl({ relay, metrics, outbox, port, onFault = () => undefined }: ControlParts): Promise<Control> {
  const key = Buffer.from(controlKey(outbox))
  const view = relayViewOf(relay, outbox)
  let asked = 0

  /** Calls of panels share a connection to the store: a queue that only grows would help nobody. */
  async function oneOfFew<T>(work: () => Promise<T>): Promise<T> {
    if (asked >= mostAsked) throw new Busy('too many requests are being answered; try again in a moment')
    asked++
    try {
      return await work()
    } finally {
      asked--
    }
  }

  function mayControl(request: IncomingMessage): boolean {
    const given = Buffer.from(/^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '')
    return given.length === key.length && timingSafeEqual(given, key)
  }

  async function control(request: IncomingMessage, url: URL): Promise<Answer> {
    const { method = '' } = request
    const query = queryOf(url.searchParams)
    const body = () => jsonOf(request)
    const asker = { outbox, actor: actorOf(request) }
    const call = { method, path: url.pathname, query, body }
    const seen = await oneOfFew(() => viewAnswer(auditedResends(view, relay, asker), call))
    if (seen !== undefined) return seen === null ? nothingSuch : { status: 200, body: seen }
    const { route, params } = matchRoute(controlRoutes, method, segmentsOf(url.pathname))
    if (!route?.takesQuery && Object.keys(query).length > 0) throw new UsageError('this path takes no parameters')
    if (!route) return nothingHere
    const done = await route.handle({ query, body, relay, asker }, params)
    return done ? { status: 200, body: done } : noEndpoint
  }

  async function answer(request: IncomingMessage): Promise<Answer | string> {
    const url = urlOf(request)
    if (!url) return nothingHere
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (isRead && url.pathname === '/livez')
      return relay.stuckFor < stuckLimit ? { status: 200, body: { alive: true } } : { status: 503, body: { alive: false } }
    if (isRead && url.pathname === '/readyz') return { status: relay.ready ? 200 : 503, body: { ready: relay.ready } }
    if (isRead && url.pathname === '/metrics') return metrics.text()
    if (!mayControl(request))
      return { status: 401, body: { error: 'the control key is missing or wrong: docs/operating/watch.md names its file' } }
    return control(request, url)
  }

  function send(response: ServerResponse, given: Answer | string): void {
    if (typeof given === 'string') response.writeHead(200, { 'content-type': metrics.contentType }).end(given)
    else response.writeHead(given.status, { 'content-type': 'application/json' }).end(`${JSON.stringify(given.body)}\n`)
  }

  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    if (!namesLoopback(request)) return send(response, { status: 403, body: { error: 'wrong host' } })
    answer(request)
      .catch((error: unknown): Answer => {
        if (error instanceof AuditUnwritten) return { status: 503, body: { error: error.message } }
        if (error instanceof UsageError) return { status: 422, body: { error: error.message } }
        if (error instanceof Busy) return { status: 503, body: { error: error.message } }
        onFault(`the control cannot answer ${request.method} ${urlOf(request)?.pathname ?? ''}`, error)
        return { status: 500, body: { error: 'this failed; see the log' } }
      })
      .then((given) => send(response, given))
  })
  const listening = await listenOnLoopback(server, '--control-port', port)
  announcePort(outbox, listening.port)
  return {
    port: listening.port,
    async close() {
      withdrawPort(outbox)
      await listening.close()
      await view.close()
    },
  }
}
