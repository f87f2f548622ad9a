/** Requests that Node refuses by itself, before any listener gets them: with a body of JSON, as every other refusal. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { errorCode } from '../../../adapters/files/errors.ts'
import { jsonResponse } from '../../../lib/http/exchange.ts'

/** Statuses by the codes of Node's parser; every other one is a 400. */
const refusals: Readonly<Record<string, readonly [status: number, reason: string, error: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large', 'The address and the headers are larger than 16384 bytes'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'Payload Too Large', 'The extensions of a chunk are larger than 16384 bytes'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout', 'The request did not arrive in time. Send it again'],
}
const malformed = [400, 'Bad Request', 'The request is not valid HTTP'] as const

/**
 * Responds in JSON where Node would respond with an empty body. That is a head that is broken, too large or too slow, and an
 * `Expect` that cannot be met.
 */
export function refuseInJson(server: Server): void {
  const pending = new WeakMap<Socket, Set<Exchange>>()
  server.on('request', (request, response) => remember(pending, { request, response }))
  server.on('clientError', (error, socket) => {
    const exchanges = pending.get(socket as Socket) ?? new Set()
    if (socket.writable && errorCode(error) !== 'ECONNRESET' && isNext(exchanges)) socket.end(refusalOf(errorCode(error)))
    // The bytes of a response that is still to leave cannot be mixed with those of a refusal.
    else socket.destroy()
  })
  server.on('checkExpectation', (request, response) => {
    const error = `Expect must be 100-continue, got ${request.headers.expect?.slice(0, 100)}`
    respond(response, 417, error)
  })
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

function remember(pending: WeakMap<Socket, Set<Exchange>>, exchange: Exchange): void {
  const { socket } = exchange.request
  const exchanges = pending.get(socket) ?? new Set()
  pending.set(socket, exchanges.add(exchange))
  exchange.response.once('close', () => exchanges.delete(exchange))
}

/** Whether a refusal would be the next response: nothing waits for one, or only the request whose body broke. */
function isNext(exchanges: ReadonlySet<Exchange>): boolean {
  const [only] = exchanges
  return !only || (exchanges.size === 1 && !only.request.complete && !only.response.headersSent)
}

function refusalOf(code: string | undefined): string {
  const [status, reason, error] = refusals[code ?? ''] ?? malformed
  const { headers, text } = parts(status, error)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n${text}`
}

function respond(response: ServerResponse, status: number, error: string): void {
  const { headers, text } = parts(status, error)
  response.writeHead(status, headers).end(text)
}

function parts(status: number, error: string) {
  const text = JSON.stringify({ error })
  // The connection ends, because nothing shows where the next request would begin.
  return {
    text,
    headers: { ...jsonResponse(status, text).headers, 'content-length': Buffer.byteLength(text), connection: 'close' },
  }
}

/** Refuses a request of HTTP/1.1 without `Host` (RFC 9112, 3.2), which Node would do without a body. */
export function requireHost(listener: RequestListener): RequestListener {
  return (request, response) => {
    if (request.httpVersion === '1.1' && request.headers.host === undefined)
      respond(response, 400, 'A request must have a Host header')
    else listener(request, response)
  }
}
