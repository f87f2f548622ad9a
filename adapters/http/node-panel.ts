/** The panel in a server of Node: Express, Connect, Fastify with middie, or `http.createServer`. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { maxFormBytes } from '../../lib/panel/form.ts'
import { toIncoming } from './node-request.ts'

/** A function of requests that answers some of them, such as a panel. */
type Handler = (request: Request) => Promise<Response | undefined>

/**
 * A middleware that answers the panel's requests, and leaves every other to the next one. A form that the host has parsed is
 * taken as it is.
 * @param panel made by `createPanel`; its `authorize` gets every header of the request
 */
export function panelMiddleware(
  panel: Handler,
): (request: IncomingMessage, response: ServerResponse, next: (error?: unknown) => void) => void {
  return (message, response, next) => {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    Promise.resolve()
      .then(() => panel(requestOf(message, gone.signal)))
      .then(async (answer) => {
        if (!answer) return next()
        const body = Buffer.from(await answer.arrayBuffer())
        // The unread rest of a refused form would be taken for the next request.
        if (!message.complete) response.shouldKeepAlive = false
        response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), 'content-length': body.byteLength })
        response.end(message.method === 'HEAD' ? undefined : body)
      })
      // The client is gone, or it sent no address that could be one.
      .catch(() => response.destroy())
  }
}

function requestOf(message: IncomingMessage, signal: AbortSignal): Request {
  const incoming = toIncoming(message)
  const { method, path, search, secure } = incoming
  const url = new URL(`${path}${search}`, `${secure ? 'https' : 'http'}://${incoming.header('host') ?? 'localhost'}`)
  const headers = new Headers()
  for (const [name, value] of Object.entries(message.headers))
    if (value !== undefined && !name.startsWith(':')) headers.set(name, typeof value === 'string' ? value : value.join(', '))
  if (method === 'GET' || method === 'HEAD') return new Request(url, { method, headers, signal })
  if (incoming.parsedBody !== undefined) {
    const form = new URLSearchParams()
    for (const [name, value] of Object.entries(incoming.parsedBody as Readonly<Record<string, unknown>>))
      for (const each of Array.isArray(value) ? value : [value]) form.append(name, String(each))
    return new Request(url, { method, headers, body: form.toString(), signal })
  }
  // Nothing is read before the panel asks: a body of another path is for the next one.
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // A form that is too large stays one byte too large: the panel refuses it.
        controller.enqueue((await incoming.read(maxFormBytes)) ?? new Uint8Array(maxFormBytes + 1))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const init: RequestInit & { duplex: 'half' } = { method, headers, body, duplex: 'half', signal }
  return new Request(url, init)
}
