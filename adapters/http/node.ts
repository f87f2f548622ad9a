/** node:http and node:https, and every framework that hands on their requests: Express, Connect, Polka, … */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Community } from '../../lib/index.ts'
import type { Answer } from '../../lib/kernel/exchange.ts'
import { address, toIncoming } from './node-request.ts'

/** Continues with the host's next handler. */
export type Next = (error?: unknown) => void

/**
 * A listener for `http.createServer` and `https.createServer` that answers every request.
 * @param community what answers
 */
export function toNodeListener(
  community: Pick<Community, 'serve'>,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => answer(community, request, response)
}

/**
 * Middleware for Express, Connect and their like: answers what is ours and leaves everything else, its body untouched, to
 * the next handler. May stand before or after a body parser. Mounted below a path, give the community that `basePath`.
 * @param community what answers
 */
export function communityMiddleware(
  community: Pick<Community, 'serve' | 'owns'>,
): (request: IncomingMessage, response: ServerResponse, next: Next) => void {
  return (request, response, next) => {
    if (community.owns(address(request).path)) answer(community, request, response)
    else next()
  }
}

function answer(community: Pick<Community, 'serve'>, request: IncomingMessage, response: ServerResponse): void {
  community.serve(toIncoming(request)).then(
    (result) => {
      if (finished.length === 0) setImmediate(writeFinished)
      finished.push({ request, response, result })
    },
    // Nothing can be said about a request that was never carried out; but its client need not wait.
    () => response.destroy(),
  )
}

interface Finished {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly result: Answer
}

// Answers are written at the end of the turn of the event loop in which they were ready, one straight after the other. Waking
// a client up costs as much as all the rest of a read, and a proxy that gets many answers at once is woken up once for them.
let finished: Finished[] = []

function writeFinished(): void {
  const ready = finished
  finished = []
  for (const { request, response, result } of ready)
    try {
      write(request, response, result)
    } catch {
      // The connection is beyond help.
      response.destroy()
    }
}

/** How long a refused upload may go on before its connection is cut, in milliseconds. */
const lingerMilliseconds = 2_000

function write(request: IncomingMessage, response: ServerResponse, { status, headers, body }: Answer): void {
  if (response.destroyed || response.headersSent) return
  const whole = body === null ? headers : { ...headers, 'content-length': Buffer.byteLength(body) }
  if (status === 413) refuseRest(request, response)
  response.writeHead(status, whole)
  response.end(request.method === 'HEAD' ? undefined : (body ?? undefined))
}

/** A client that sends too much gets its answer first; what it goes on sending is thrown away, and then it is cut off. */
function refuseRest(request: IncomingMessage, response: ServerResponse): void {
  response.shouldKeepAlive = false
  request.resume()
  const { socket } = request
  const timer = setTimeout(() => socket.destroy(), lingerMilliseconds)
  timer.unref()
  socket.once('close', () => clearTimeout(timer))
}
