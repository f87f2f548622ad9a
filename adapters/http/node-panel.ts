/** The panel in a server of Node: Express, Connect, Fastify with middie, or `http.createServer`. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { maxFormBytes } from '../../lib/panel/entry/form.ts'
import { toIncoming } from './node-request.ts'

/** A function of requests that answers some of them, such as a panel. */
type Handler = (request: Request) => Promise<Response | undefined>

/**
 * A middleware that answers the panel's requests, and leaves every other to the next one. A form that the host has parsed is
 * taken as it is.
 * @param panel made by `createPanel`; its `authorize` gets every header of the request
 * @throws TypeError for what is no panel
 */
export function panelMiddleware(panel: Handler): (request: IncomingMessage, response: ServerResponse, next: () => void) => void {
  if (typeof panel !== 'function')
    throw new TypeError('panelMiddleware: the first argument must be a panel, as createPanel returns it')
  return (message, response, next) => {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    let request: Request
    try {
      request = requestOf(message, gone.signal)
    } catch {
      // It fits no `Request`, as with the method TRACE or a broken `Host`. So the panel does not answer it.
      return next()
    }
    panel(request)
      .then((answer) => (answer ? write(message, response, answer) : queueMicrotask(() => next())))
      // The client is gone.
      .catch(() => response.destroy())
  }
}

/** Writes an answer of `fetch` to a response of Node. */
export async function write(message: IncomingMessage, response: ServerResponse, answer: Response): Promise<void> {
  if (answer.body && answer.headers.has('content-disposition') && message.method !== 'HEAD') {
    // A file may be larger than the memory.
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    // It ends early if the client leaves, which is no fault, or if it cannot be read, which the panel has reported.
    return pipeline(answer.body, response).catch(() => void response.destroy())
  }
  const body = Buffer.from(await answer.arrayBuffer())
  // The unread rest of a refused form would be taken for the next request.
  if (!message.complete) response.shouldKeepAlive = false
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), 'content-length': body.byteLength })
  response.end(message.method === 'HEAD' ? undefined : body)
}

function requestOf(message: IncomingMessage, signal: AbortSignal): Request {
  const incoming = toIncoming(message)
  const { method, path, search, secure } = incoming
  // Put together, not resolved: `//evil.test/` as a path would otherwise be taken for the host, and so for the origin.
  const url = new URL(`${secure ? 'https' : 'http'}://${incoming.header('host') ?? 'localhost'}${path}${search}`)
  const headers = new Headers()
  for (const [name, value] of Object.entries(message.headers))
    if (value !== undefined && !name.startsWith(':')) headers.set(name, typeof value === 'string' ? value : value.join(', '))
  if (method === 'GET' || method === 'HEAD') return new Request(url, { method, headers, signal })
  if (incoming.parsedBody !== undefined) return new Request(url, { method, headers, body: formText(incoming.parsedBody), signal })
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

/** The text of a form that the host has parsed. Some parsers make an object of many values with one name. */
function formText(parsed: unknown): string {
  const form = new URLSearchParams()
  if (typeof parsed !== 'object' || parsed === null) return ''
  for (const [name, value] of Object.entries(parsed))
    for (const each of typeof value === 'object' && value !== null ? Object.values(value) : [value])
      form.append(name, String(each))
  return form.toString()
}
