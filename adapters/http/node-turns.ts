/**
 * One request of a connection after the other. Node begins every pipelined request as soon as it has arrived. So a client that
 * sends without reading would have all of them carried out concurrently.
 */
import { AsyncResource } from 'node:async_hooks'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Duplex } from 'node:stream'
import { jsonResponse } from '../../lib/http/exchange.ts'
import { cut, isGone } from './node-stream.ts'

/**
 * Whether a request came over no connection: `inject` of a framework makes such requests, and so do adapters of function platforms.
 * Nothing can be paused there, nor is there a client that could stall.
 */
export const isMadeUp = ({ httpVersionMajor, socket }: IncomingMessage): boolean =>
  httpVersionMajor < 2 && !(socket instanceof Duplex)

interface Connection {
  running: number
  readonly waiting: (() => void)[]
  /** Whether its end is listened to, as it is once something waits. */
  isWatched: boolean
}

/** HTTP/2 interleaves its streams by design. */
const atOnce = (request: IncomingMessage): number => (request.httpVersionMajor < 2 ? 1 : 32)

/**
 * Requests that wait, on all connections together. A connection has at most those that arrived before its socket was paused. Node holds
 * about 4 KB for each.
 */
const maxWaiting = 8_192
let waitingOfAll = 0

const connections = new WeakMap<Link, Connection>()

/** The socket of HTTP/1, or the session of HTTP/2, whose streams come and go. */
interface Link {
  readonly destroyed: boolean
  once(event: 'close', closed: () => void): unknown
}

/**
 * Begins a request when its connection has none under way.
 * @param begin gets what to call when its response has left
 */
export function takeTurn(request: IncomingMessage, response: ServerResponse, begin: (done: () => void) => void): void {
  if (isMadeUp(request)) {
    begin(() => {})
    return
  }
  if (isMisnamed(request)) {
    refuseVersion(response)
    return
  }
  const link = linkOf(request)
  let connection = connections.get(link)
  if (!connection) {
    connection = { running: 0, waiting: [], isWatched: false }
    connections.set(link, connection)
  }
  const { socket } = request
  const start = () => begin(() => next(connection, link, request))
  if (connection.running < atOnce(request) || isAwaited(request, response)) {
    connection.running += 1
    start()
  } else if (waitingOfAll < maxWaiting) {
    const startLater = inOwnContext(start)
    wait(connection, link, startLater)
    response.once('socket', () => overtake(connection, socket, startLater))
    // Bytes that the socket has read already still come; nothing more, until the queue is empty.
    if (request.httpVersionMajor < 2) socket.pause()
  } else if (request.httpVersionMajor < 2) socket.destroy()
  else cut(response)
}

/**
 * Whether a request of HTTP/1 claims to be HTTP/2, which Node's parser takes. Everything here goes by the version, so its connection
 * would have the turns of many streams.
 */
const isMisnamed = (request: IncomingMessage): boolean => request.httpVersionMajor >= 2 && !('stream' in request)

function refuseVersion(response: ServerResponse): void {
  const { headers, body } = jsonResponse(
    505,
    JSON.stringify({ error: 'This connection is HTTP/1.1, and so must be its requests' }),
  )
  response.writeHead(505, { ...headers, connection: 'close' }).end(body)
}

/** The same work, in the asynchronous context of this call: the host may keep something of the request there, such as its user. */
export function inOwnContext(work: () => void): () => void {
  const context = new AsyncResource('folkmoot.request')
  return () => context.runInAsyncScope(work)
}

/**
 * Whether the responses to all others of its connection wait behind that to this request. Node gives a response of HTTP/1 its
 * socket then. Work of the host's, such as a body parser, may have let a later request go ahead.
 */
const isAwaited = (request: IncomingMessage, response: ServerResponse): boolean =>
  request.httpVersionMajor < 2 && Boolean(response.socket)

/** Begins a waiting request as soon as the others wait for its response. */
function overtake(connection: Connection, socket: IncomingMessage['socket'], start: () => void): void {
  const place = connection.waiting.indexOf(start)
  if (place === -1) return
  connection.waiting.splice(place, 1)
  waitingOfAll -= 1
  connection.running += 1
  if (connection.waiting.length === 0) socket.resume()
  start()
}

function next(connection: Connection, link: Link, request: IncomingMessage): void {
  // No client would get the responses.
  if (link.destroyed) forget(connection)
  const start = connection.running > atOnce(request) ? undefined : connection.waiting.shift()
  if (start) waitingOfAll -= 1
  if (connection.waiting.length === 0 && request.httpVersionMajor < 2) request.socket.resume()
  if (start) start()
  else connection.running -= 1
}

function wait(connection: Connection, link: Link, start: () => void): void {
  connection.waiting.push(start)
  waitingOfAll += 1
  // Requests under way may never end where their connection has.
  if (!connection.isWatched) link.once('close', () => forget(connection))
  connection.isWatched = true
}

function forget({ waiting }: Connection): void {
  waitingOfAll -= waiting.length
  waiting.length = 0
}

/** Begins a request in its turn, which lasts until its response is closed. */
export function inTurn(request: IncomingMessage, response: ServerResponse, begin: () => void): void {
  takeTurn(request, response, (done) => {
    if (isGone(response)) {
      done()
      return
    }
    response.once('close', done)
    begin()
  })
}

const linkOf = (request: IncomingMessage): Link =>
  'stream' in request ? ((request.stream as { readonly session?: Link }).session ?? request) : request.socket
