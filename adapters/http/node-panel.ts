/** The panel in a server of Node: Express, Connect, Fastify with middie, or `http.createServer`. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isHost } from '../../lib/http/host.ts'
import type { Panel } from '../../lib/panel/index.ts'
import { maxFormBytes } from '../../lib/panel/request/form.ts'
import { writeBytes, writeFile } from './node-answer.ts'
import type { HostRequest, Kept } from './node-body.ts'
import { address, header, toIncoming } from './node-request.ts'
import { cut } from './node-stream.ts'
import { inTurn } from './node-turns.ts'
import { type PanelOf, requirePanel } from './require-panel.ts'

/**
 * A middleware that answers the panel's requests, and leaves every other to the next one. A form that the host has parsed is
 * taken as it is.
 * @param panel made by `createPanel`. The second argument of its `authorize` is the request of Node or Express, with its session
 * @throws TypeError for what is no panel
 */
export function panelMiddleware(panel: Panel): (request: IncomingMessage, response: ServerResponse, next: () => void) => void
export function panelMiddleware<Host extends IncomingMessage>(
  panel: Panel<Host>,
): (request: Host, response: ServerResponse, next: () => void) => void
export function panelMiddleware<Host extends IncomingMessage>(
  panel: PanelOf<Host>,
): (request: Host, response: ServerResponse, next: () => void) => void {
  requirePanel(panel, 'panelMiddleware')
  return (message, response, next) => {
    answerPanel(panel, message, message, response).then((isAnswered) => {
      if (!isAnswered) queueMicrotask(() => next())
    })
  }
}

/**
 * Answers a request with the panel, for the adapters of frameworks. It never rejects.
 * @param host what `authorize` gets as its second argument
 * @param taken called before anything is written
 * @param kept the parts that the framework keeps, if not on the request itself
 * @returns whether the request was the panel's
 */
export async function answerPanel<Host>(
  panel: PanelOf<Host>,
  host: Host,
  message: IncomingMessage,
  response: ServerResponse,
  taken?: () => void,
  kept?: Kept,
): Promise<boolean> {
  const { owns } = panel
  if (owns) {
    const { originalUrl }: Kept = kept ?? (message as HostRequest)
    if (!owns(address(originalUrl ?? message.url).path)) return false
    await new Promise<void>((begin) => inTurn(message, response, begin))
  }
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  let request: Request
  try {
    request = requestOf(message, gone.signal, kept)
  } catch {
    // It fits no `Request`, as with the method TRACE. So the panel does not answer it.
    return false
  }
  try {
    const answer = await (panel as Panel<Host>)(request, host)
    if (!answer) return false
    taken?.()
    await write(message, response, answer)
  } catch {
    // The client is gone.
    cut(response)
  }
  return true
}

/** Writes an answer of `fetch` to a response of Node. */
export async function write(message: IncomingMessage, response: ServerResponse, answer: Response): Promise<void> {
  if (answer.body && answer.headers.has('content-disposition') && message.method !== 'HEAD') {
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    return writeFile(message, response, answer.body)
  }
  const body = Buffer.from(await answer.arrayBuffer())
  // The unread rest of a refused form would be taken for the next request.
  if (!message.complete) response.shouldKeepAlive = false
  response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), 'content-length': body.byteLength })
  writeBytes(message, response, message.method === 'HEAD' ? new Uint8Array() : body)
}

/**
 * @throws TypeError for what fits no `Request`. An address that a `URL` would change fits none, as one with `..`, or a `Host` with
 * a path. A guard of the host has seen another path than the panel would
 */
function requestOf(message: IncomingMessage, signal: AbortSignal, kept?: Kept): Request {
  const incoming = toIncoming(message, undefined, undefined, kept)
  const { method, path, search, secure } = incoming
  const host = incoming.header('host') ?? 'localhost'
  // Put together, not resolved: `//evil.test/` as a path would otherwise be taken for the host, and so for the origin.
  const url = new URL(`${secure ? 'https' : 'http'}://${host}${path}${search}`)
  if (!isHost(host) || url.pathname !== path) throw new TypeError('the address is ambiguous')
  const headers = new Headers()
  for (const name of Object.keys(message.headers)) {
    const value = name.startsWith(':') ? null : header(message, name)
    if (value !== null) headers.set(name, value)
  }
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
