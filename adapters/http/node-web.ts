/** Requests of Node as a `Request`, and a `Response` written to Node: for the panel, and for whatever else has a `fetch`. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { ApiError, isApiError } from '../../lib/errors.ts'
import type { Incoming } from '../../lib/http/exchange.ts'
import { isHost } from '../../lib/http/host.ts'
import { type FetchHandler, fetched } from './mounted.ts'
import type { HostBody } from './node-body.ts'
import type { Bounds } from './node-bounds.ts'
import { header, toIncoming } from './node-request.ts'
import { writeBytes, writeFile } from './node-response.ts'
import { cut } from './node-stream.ts'
import { inTurn } from './node-turns.ts'

/** How the body of a request is given to its handler. */
export interface BodyReader {
  /** Reads a body that the host has not parsed. */
  read(incoming: Incoming): Promise<Uint8Array>
  /** The text of a body that the host has parsed. */
  text(parsed: unknown): string
}

/**
 * @param bounds how long a body may take
 * @throws TypeError for what fits no `Request`. An address that a `URL` would change fits none, as one with `..`, or a `Host` with
 * a path. A guard of the host has seen another path than the handler would
 */
export function requestOf(
  message: IncomingMessage,
  signal: AbortSignal,
  { read, text }: BodyReader,
  kept?: HostBody,
  bounds?: Bounds,
): Request {
  const incoming = toIncoming(message, bounds, undefined, kept)
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
  if (incoming.parsedBody !== undefined) return new Request(url, { method, headers, body: text(incoming.parsedBody), signal })
  // Nothing is read before it is needed: a body of another path is for the next handler.
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const bytes = await read(incoming)
        if (bytes.length > 0) controller.enqueue(bytes)
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const init: RequestInit & { duplex: 'half' } = { method, headers, body, duplex: 'half', signal }
  return new Request(url, init)
}

/** Headers as Node takes them: several cookies have one name. */
function headersOf({ headers }: Response): Record<string, string | string[]> {
  const cookies = headers.getSetCookie()
  return { ...Object.fromEntries(headers), ...(cookies.length > 1 ? { 'set-cookie': cookies } : {}) }
}

/** Whether a body comes over time, or may be larger than the memory. */
const isStream = ({ headers }: Response): boolean =>
  headers.has('content-disposition') || (headers.get('content-type')?.startsWith('text/event-stream') ?? false)

/** Writes a response of `fetch` to a response of Node. */
export async function write(message: IncomingMessage, response: ServerResponse, result: Response): Promise<void> {
  const headers = headersOf(result)
  if (result.body && isStream(result) && message.method !== 'HEAD') {
    response.writeHead(result.status, headers)
    // The first event may come much later.
    response.flushHeaders()
    return writeFile(message, response, result.body)
  }
  const body = Buffer.from(await result.arrayBuffer())
  // The unread rest of a refused body would be taken for the next request.
  if (!message.complete) response.shouldKeepAlive = false
  const hasLength = result.status !== 204 && result.status !== 304
  response.writeHead(result.status, hasLength ? { ...headers, 'content-length': body.byteLength } : headers)
  writeBytes(message, response, message.method === 'HEAD' ? new Uint8Array() : body)
}

/** The longest body that a mounted handler gets, in bytes: that of a delivery of the relay. */
const longestBody = 16 * 1024 * 1024

const jsonText = (parsed: unknown): string => JSON.stringify(parsed)

/**
 * Serves a request with a mounted handler.
 * @param taken called before anything is written
 * @param kept the parts that the framework keeps, if not on the request itself
 * @throws what the handler throws; then nothing is written
 */
export async function serveFetch(
  handler: FetchHandler,
  bounds: Bounds,
  message: IncomingMessage,
  response: ServerResponse,
  taken?: () => void,
  kept?: HostBody,
): Promise<void> {
  await new Promise<void>((begin) => inTurn(message, response, begin))
  const gone = new AbortController()
  response.once('close', () => gone.abort())
  let refusal: ApiError | undefined
  // A handler may make an error of its own of a body that breaks off: the client gets ours.
  const read = async (incoming: Incoming): Promise<Uint8Array> => {
    try {
      const bytes = await incoming.read(longestBody)
      if (bytes) return bytes
      throw new ApiError(413, { error: `The body has more than ${longestBody} bytes` })
    } catch (error) {
      if (isApiError(error)) refusal = error
      throw error
    }
  }
  let result: Response | undefined
  const request = requestIfAny(message, gone.signal, { read, text: jsonText }, kept, bounds)
  if (!request) refusal = new ApiError(400, { error: 'The address or the method of the request is not one that can be served' })
  try {
    result = request && (await fetched(handler, request))
  } catch (error) {
    if (!refusal) throw error
  }
  const shown = refusal ? Response.json(refusal.body, { status: refusal.status, headers: refusal.headers }) : result
  taken?.()
  try {
    if (shown) await write(message, response, shown)
  } catch {
    // The client is gone.
    cut(response)
  }
}

function requestIfAny(...given: Parameters<typeof requestOf>): Request | undefined {
  try {
    return requestOf(...given)
  } catch {
    return undefined
  }
}

/** For the developer: a fault of a handler that has no framework around it to report it. */
export function failed(message: IncomingMessage, response: ServerResponse, error: unknown): void {
  console.error('folkmoot: a mounted `fetch` failed', error)
  write(message, response, Response.json({ error: 'Internal server error' }, { status: 500 })).catch(() => cut(response))
}
