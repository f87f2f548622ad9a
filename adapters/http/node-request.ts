import type { IncomingMessage } from 'node:http'
import type { Incoming } from '../../lib/http/exchange.ts'
import { type HostBody, type HostRequest, handedOver, readBody } from './node-body.ts'
import { type Bounds, defaultBounds } from './node-bounds.ts'

/**
 * A request without a `Request`: building one costs more than the rest of a read.
 * @param bounds how long its body may take
 * @param whenSent see `Incoming`
 * @param kept the parts that the host keeps
 * @param requestId see `Incoming`
 */
export function toIncoming(
  request: HostRequest,
  bounds: Bounds = defaultBounds,
  whenSent?: Incoming['whenSent'],
  kept: HostBody = request,
  requestId?: Incoming['requestId'],
): Incoming {
  return new NodeIncoming(request, bounds, whenSent, kept, requestId)
}

// A class, not an object of closures: one is made for each request.
class NodeIncoming implements Incoming {
  readonly method: string
  readonly path: string
  readonly search: string
  readonly secure: boolean
  readonly parsedBody: unknown
  readonly whenSent?: (sent: () => void) => void
  readonly requestId: Incoming['requestId']
  readonly #request: HostRequest
  readonly #bounds: Bounds
  readonly #kept: HostBody

  constructor(
    request: HostRequest,
    bounds: Bounds,
    whenSent: Incoming['whenSent'],
    kept: HostBody,
    requestId: Incoming['requestId'],
  ) {
    const { path, search } = address(kept.originalUrl ?? request.url)
    this.method = request.method ?? 'GET'
    this.path = path
    this.search = search
    // Read now: the socket of HTTP/2 can no longer be read when its client has left.
    this.secure = (request.socket as { readonly encrypted?: unknown } | undefined)?.encrypted === true
    const handed = handedOver(request, kept)
    this.parsedBody = handed?.kind === 'parsed' ? handed.value : undefined
    if (whenSent) this.whenSent = whenSent
    this.requestId = requestId
    this.#request = request
    this.#bounds = bounds
    this.#kept = kept
  }

  header(name: string): string | null {
    return header(this.#request, name)
  }

  read(limit: number, arrived?: (bytes: number) => void): Promise<Uint8Array | undefined> {
    return readBody(this.#request, this.#kept, limit, this.#bounds, arrived)
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

/** @returns the value of a header, several of one name joined by commas; null without one */
export function header(request: IncomingMessage, name: string): string | null {
  // A request that is made up may have a number.
  const value: string | number | readonly string[] | undefined = request.headers[name]
  if (value === undefined) return name === 'host' ? header(request, ':authority') : null
  // Node keeps the first of two such headers and drops the other without a word; both must be seen to be refused.
  const all = name === 'authorization' || name === 'host' ? allOf(request.rawHeaders, name) : []
  // HTTP/2 has another name for it, and both of them only where they agree (RFC 9113, 8.3.1).
  const authority = name === 'host' ? request.headers[':authority'] : undefined
  if (typeof authority === 'string' && authority.toLowerCase() !== String(value).toLowerCase()) all.push(authority)
  if (all.length > 0) return all.join(', ')
  return typeof value === 'object' ? value.join(', ') : String(value)
}

/** @param rawHeaders as on the wire; a request that is made up may have none */
function allOf(rawHeaders: readonly string[] = [], name: string): string[] {
  const values: string[] = []
  for (let place = 0; place < rawHeaders.length; place += 2) {
    const raw = rawHeaders[place] ?? ''
    if (raw.length === name.length && raw.toLowerCase() === name) values.push(rawHeaders[place + 1] ?? '')
  }
  return values
}
