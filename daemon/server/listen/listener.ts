/** The endpoint of `folkmoot listen`: takes deliveries on loopback, verifies them, and responds with what becomes of them. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { isWebhookError, receive } from '../../../lib/receiver/index.ts'
import { rawBody } from '../../../lib/receiver/request.ts'
import { listenOnLoopback } from '../../loopback.ts'
import type { Forwarded } from './forward.ts'

export interface Incoming {
  readonly event_id: string
  readonly event_type: string
  /** The body as JSON; undefined if it is not that, which only an unverified one may be. */
  readonly event: unknown
  readonly raw: Uint8Array
  readonly headers: Readonly<Record<string, string>>
}

export type Reply = Pick<Forwarded, 'status' | 'headers' | 'body'>

export interface ListenerParts {
  /** 0 takes a free one. */
  readonly port: number
  /** Null: nothing is verified. */
  readonly expected: { readonly token: string; readonly secrets: string } | null
  readonly take: (incoming: Incoming) => Promise<Reply>
  /** Called with the reason why a delivery was refused. */
  readonly refused: (why: string) => void
}

export interface Listener {
  readonly url: string
  close(): Promise<void>
}

const longestBody = 16 * 1024 * 1024
/** Deliveries at one time; a relay has at most eight in flight to an endpoint. */
const mostAtOnce = 16

/** @throws UsageError when the port is taken */
export async function startListener({ port, expected, take, refused }: ListenerParts): Promise<Listener> {
  let running = 0

  async function respond(request: IncomingMessage): Promise<Reply> {
    try {
      return await take(await incomingOf(request, expected))
    } catch (error) {
      if (!isWebhookError(error)) throw error
      // Another listener checks by GET whether this one lives.
      if (error.code !== 'method_not_allowed') refused(`${error.message} (${error.code})`)
      return { status: error.status, headers: {}, body: Buffer.from(`${error.message}\n`) }
    }
  }

  const server = createServer({ requestTimeout: 10_000 }, (request, response) => {
    if (running >= mostAtOnce) return void response.writeHead(503, { 'retry-after': '1' }).end()
    running++
    respond(request)
      .then(
        (reply) => send(response, reply),
        () => response.destroy(),
      )
      .finally(() => running--)
  })
  server.maxConnections = 64
  const listening = await listenOnLoopback(server, '--port', port)
  return { url: `http://127.0.0.1:${listening.port}/webhooks`, close: listening.close }
}

async function incomingOf(request: IncomingMessage, expected: ListenerParts['expected']): Promise<Incoming> {
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )
  if (expected) {
    const { event, raw } = await receive(request, expected)
    return { event_id: event.event_id, event_type: event.event_type, event, raw, headers }
  }
  const raw = await rawBody(request, longestBody)
  const event = parsed(raw)
  const { event_id = '–', event_type = '–' } = (event ?? {}) as { readonly event_id?: unknown; readonly event_type?: unknown }
  return { event_id: String(event_id), event_type: String(event_type), event, raw, headers }
}

function parsed(raw: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(raw).toString('utf8'))
  } catch {
    return undefined
  }
}

function send(response: ServerResponse, { status, headers, body }: Reply): void {
  const isBodiless = status < 200 || status === 204 || status === 304
  // A status that cannot be passed on is no acknowledgement either.
  response.writeHead(status >= 200 && status <= 599 ? status : 502, headers)
  response.end(isBodiless ? undefined : body)
}
