import type { IncomingMessage } from 'node:http'
import type { Incoming } from '../../lib/http/exchange.ts'
import { type HostRequest, handedOver, type Kept, readBody } from './node-body.ts'
import { type Bounds, defaultBounds } from './node-bounds.ts'

/**
 * A request without a `Request`: building one costs more than the rest of a read.
 * @param bounds how long its body may take
 * @param whenSent see `Incoming`
 * @param kept the parts that the host keeps
 */
export function toIncoming(
  request: HostRequest,
  bounds: Bounds = defaultBounds,
  whenSent?: Incoming['whenSent'],
  kept: Kept = request,
): Incoming {
  const { path, search } = address(kept.originalUrl ?? request.url)
  const handed = handedOver(request, kept)
  return {
    method: request.method ?? 'GET',
    path,
    search,
    secure: 'encrypted' in request.socket && request.socket.encrypted === true,
    header: (name) => header(request, name),
    read: (limit, arrived) => readBody(request, kept, limit, bounds, arrived),
    ...(handed?.kind === 'parsed' ? { parsedBody: handed.value } : {}),
    ...(whenSent ? { whenSent } : {}),
  }
}

/** The path and the query of a request, of its address as called. */
export function address(url = '/'): { path: string; search: string } {
  // A client that takes us for a proxy sends the whole address.
  const begin = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
  const query = url.indexOf('?')
  if (begin === -1) return { path: '/', search: '' }
  return query === -1 ? { path: url.slice(begin), search: '' } : { path: url.slice(begin, query), search: url.slice(query) }
}

function header(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name]
  if (value === undefined) return name === 'host' ? header(request, ':authority') : null
  // Node keeps the first of two such headers and drops the other without a word; both must be seen to be refused.
  if (name === 'authorization' || name === 'host') return allOf(request.rawHeaders, name)
  return typeof value === 'string' ? value : value.join(', ')
}

function allOf(rawHeaders: readonly string[], name: string): string {
  const values: string[] = []
  for (let place = 0; place < rawHeaders.length; place += 2)
    if (rawHeaders[place]?.toLowerCase() === name) values.push(rawHeaders[place + 1] ?? '')
  return values.join(', ')
}
