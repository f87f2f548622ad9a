/**
 * Health, metrics and control over HTTP, on the loopback address only. Health and metrics are for anybody on this machine;
 * everything else wants the key.
 */
import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listenOnLoopback, namesLoopback } from '../../../loopback.ts'
import { UsageError } from '../../../usage.ts'
import type { RelayEvents } from '../../events.ts'
import { openOperatorStore } from '../../open-store.ts'
import { type Relay, stuckLimit } from '../../relay.ts'
import type { OperatorStore } from '../../store/operator/operator-store.ts'
import type { Metrics } from '../metrics.ts'
import { checkKnown, queryOf, replayOf, selectionOf, skipOf } from '../tasks/delivery-selection.ts'
import { closeCircuit, replay, skip } from '../tasks/operator-tasks.ts'
import { type Asker, AuditUnwritten } from '../tasks/trail.ts'
import { relayViewOf } from '../view/of-relay.ts'
import { endpointIn } from '../view/running-endpoint.ts'
import { jsonOf } from './control-body.ts'
import { actorOf, auditedResends, switchAudited, testAudited } from './control-changes.ts'
import { controlKey } from './control-key.ts'
import { announcePort, withdrawPort } from './control-port.ts'
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

  async function withStore(work: (store: OperatorStore) => Promise<object>): Promise<Answer> {
    const store = await openOperatorStore(outbox)
    try {
      return { status: 200, body: await work(store) }
    } finally {
      await store.close()
    }
  }

  async function onEndpoint(network: string, id: string, action: string, asker: Asker): Promise<Answer> {
    const found = await endpointIn(relay, network, id)
    if (!found) return noEndpoint
    if (action === 'test') return { status: 200, body: await testAudited(relay, found, asker) }
    if (action === 'close-circuit') return withStore((store) => closeCircuit({ ...asker, store, now: relay.now() }, id, network))
    await switchAudited(relay, found, action === 'enable' ? action : 'disable', asker)
    return { status: 200, body: { enabled: action === 'enable' } }
  }

  async function control(request: IncomingMessage, url: URL): Promise<Answer> {
    const query = queryOf(url.searchParams)
    const call = { method: request.method ?? '', path: url.pathname, query, body: () => jsonOf(request) }
    const asker = { outbox, actor: actorOf(request) }
    const seen = await oneOfFew(() => viewAnswer(auditedResends(view, relay, asker), call))
    if (seen !== undefined) return seen === null ? nothingSuch : { status: 200, body: seen }
    const isList = request.method === 'GET' && url.pathname === '/deliveries'
    const [parameter] = isList ? [] : Object.keys(query)
    if (parameter !== undefined) throw new UsageError('this path takes no parameters')
    const [, network = '', id = '', action = ''] =
      /^\/networks\/([^/]+)\/endpoints\/([^/]+)\/(test|enable|disable|close-circuit|skip)$/.exec(url.pathname) ?? []
    switch (`${request.method} ${action || url.pathname}`) {
      case 'GET /status':
        return withStore(async (store) => ({
          relays: await store.relays(),
          endpoints: await store.endpoints(),
          notices: await store.notices(100),
        }))
      case 'GET /deliveries':
        return withStore(async (store) => {
          const selection = selectionOf(query, '')
          await checkKnown(store, selection)
          return { items: await store.deliveries(selection) }
        })
      case 'POST /replay': {
        const chosen = replayOf(await jsonOf(request), '')
        const answer = await withStore(async (store) => ({
          replayed: await replay({ ...asker, store, now: relay.now() }, chosen),
        }))
        relay.scheduler.refresh()
        return answer
      }
      case 'POST skip': {
        const { endpoint, network: other, ...given } = await jsonOf(request)
        if (endpoint !== undefined || other !== undefined)
          throw new UsageError('leave out `endpoint` and `network`: the path names them')
        const chosen = skipOf({ ...given, endpoint: id, network }, '')
        if (!(await endpointIn(relay, network, id))) return noEndpoint
        return withStore(async (store) => ({ skipped: await skip({ ...asker, store, now: relay.now() }, chosen) }))
      }
      case 'POST test':
      case 'POST enable':
      case 'POST disable':
      case 'POST close-circuit':
        if (Object.keys(await jsonOf(request)).length > 0) throw new UsageError(`${action} takes no body`)
        return onEndpoint(network, id, action, asker)
      default:
        return nothingHere
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
      return { status: 401, body: { error: 'the control key is missing or wrong: docs/operating.md names its file' } }
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
