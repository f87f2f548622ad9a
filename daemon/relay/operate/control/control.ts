/**
 * Health, metrics and control over HTTP, on the loopback address only. Health and metrics are for anybody on this machine;
 * everything else needs the key.
 */
import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import * as v from 'valibot'
import { matchRoute, segmentsOf } from '../../../../lib/base/match-route.ts'
import { ApiError } from '../../../../lib/errors.ts'
import { calls } from '../../../../lib/relay/calls.ts'
import { auditedHeader } from '../../../../lib/relay/control-client.ts'
import { listenOnLoopback, namesLoopback } from '../../../loopback.ts'
import { UsageError } from '../../../usage.ts'
import { relayAdmin } from '../../admin/admin.ts'
import { embeddedBackend } from '../../admin/backend.ts'
import { checkKnown, checkNames, refusal } from '../../admin/filter.ts'
import { AuditUnwritten, actingAs } from '../../admin/trail.ts'
import type { RelayEvents } from '../../events.ts'
import { type Relay, stuckLimit } from '../../relay.ts'
import type { Metrics } from '../metrics.ts'
import { jsonOf } from './control-body.ts'
import { controlKey } from './control-key.ts'
import { announcePort, withdrawPort } from './control-port.ts'

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

/** Calls that are answered at the same time. */
const mostAsked = 64

class Busy extends Error {
  override readonly name = 'Busy'
}

const nothingHere: Answer = { status: 404, body: { error: 'there is nothing here' } }
const nothingSuch: Answer = { status: 404, body: { error: 'there is no such thing' } }

/** The header that names the person for the audit. */
const actorHeader = 'folkmoot-actor'

/** The person behind a request, for the audit: `control:ada`. A caller that leaves the lines by itself is null. */
function actorOf({ headers }: IncomingMessage): string | null {
  if (headers[auditedHeader] !== undefined) return null
  const given = String(headers[actorHeader] ?? '').trim()
  return `control:${/^[\x20-\x7e]{1,100}$/.test(given) ? given : 'operator'}`
}

/** The parameters of a query, each of which may be given once. @throws UsageError */
function queryOf(params: URLSearchParams): object {
  const names = [...params.keys()]
  const twice = names.find((name, place) => names.indexOf(name) !== place)
  if (twice !== undefined)
    throw new UsageError(`a parameter may be given once${/^\w{1,40}$/.test(twice) ? `: \`${twice}\` is there twice` : ''}`)
  return Object.fromEntries(params)
}

/** The address of a request; null for a malformed one, such as `//`. */
const urlOf = ({ url = '/' }: IncomingMessage): URL | null => URL.parse(url, 'http://127.0.0.1')

/**
 * Listens on 127.0.0.1.
 *
 * `GET /livez`, `GET /readyz`, `GET /metrics`; with `Authorization: Bearer <key>` each call of `calls`. Each change leaves lines
 * of the audit, unless its caller does so.
 * @throws UsageError when the port is taken
 */
export async function startControl({ relay, metrics, outbox, port, onFault = () => undefined }: ControlParts): Promise<Control> {
  const key = Buffer.from(controlKey(outbox))
  const admin = relayAdmin(outbox, embeddedBackend(relay))
  let asked = 0

  /** Calls share a connection to the store: a queue that only grows would help nobody. */
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
    const query = queryOf(url.searchParams)
    const { route, params } = matchRoute(Object.values(calls), request.method ?? '', segmentsOf(url.pathname))
    if (!route) return nothingHere
    const given = route.method === 'GET' ? query : await jsonOf(request)
    if (route.method === 'POST') checkNames([], query)
    checkNames(
      route.names.filter((name) => params[name] === undefined),
      given,
    )
    const input = { ...given, ...params }
    try {
      // An empty list would pass for good news; in one network, an endpoint may not have been heard of yet.
      if (route === calls.list && !('network_id' in input))
        await checkKnown(await admin.store(), v.parse(calls.list.input, input))
      const done = await route.handle(actingAs(admin, actorOf(request)), input)
      return done ? { status: 200, body: done } : nothingSuch
    } catch (error) {
      throw v.isValiError<v.GenericSchema>(error) ? refusal(error, input) : error
    }
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
    return oneOfFew(() => control(request, url))
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
        if (error instanceof ApiError) return { status: error.status, body: { error: error.message } }
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
      await admin.close()
    },
  }
}
