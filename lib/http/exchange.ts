/**
 * A request and its response in the leanest form that the kernel needs. Server adapters make the one and write the other
 * directly. A `Request` and a `Response` in between would cost more than the rest of a read.
 */

import { streamOf } from '../base/request-stream.ts'
import { utf8Length } from '../base/utf8.ts'
import { ApiError } from '../errors.ts'
import { createPieces } from './pieces.ts'

/** A request, as a server adapter hands it over. */
export interface Incoming {
  /** In capitals, such as `GET`. */
  readonly method: string
  /** The path as called, still percent-encoded, without the query. */
  readonly path: string
  /** The query as called, with its question mark, or `''`. */
  readonly search: string
  /** Whether the connection itself is TLS. */
  readonly secure: boolean
  /** The value of a header, by its name in lower case; several values are joined by a comma. */
  header(name: string): string | null
  /**
   * The body's bytes; called at most once.
   * @param limit refuse a body of more bytes than this
   * @param arrived called with the bytes of each part as it arrives; if it throws, reading ends with that error
   * @returns `undefined` when the body is larger
   * @throws Error when the host has read the body before: see `hostReadBody`
   */
  read(limit: number, arrived?: (bytes: number) => void): Promise<Uint8Array | undefined>
  /** The JSON body as parsed by the host; `undefined` without a parser. */
  readonly parsedBody?: unknown
  /**
   * Takes what to call, once, when the response has left or its connection has ended: until then its bytes are in flight. An
   * adapter that cannot know leaves it out.
   */
  whenSent?(sent: () => void): void
  /** Gives the host's own id of the request. Called once, if there is a fault to report. */
  readonly requestId?: (() => unknown) | undefined
}

/** A response, for a server adapter to write. */
export interface HttpResponse {
  /** The HTTP status, such as 200. */
  readonly status: number
  /** By name; a name comes once, whatever its case. */
  readonly headers: Readonly<Record<string, string>>
  /** `null` where there is no body. */
  readonly body: string | null
}

/** A fault of the host's set-up, for `onError`: an empty body in place of the one that was sent would change nothing without a word. */
export const hostReadBody = (): Error =>
  new Error(
    'The host has read the body before the community. Mount the community before the body parser, or keep the bytes in `request.rawBody` or the parsed value in `request.body`; for `fetch`, pass a request whose body is unread',
  )

// Responses hold what one key may see: no cache keeps them, and no browser takes them for anything but JSON.
const json = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

/** A response whose body is already JSON. */
export function jsonResponse(status: number, body: string, headers: Readonly<Record<string, string>> = {}): HttpResponse {
  return { status, headers: { ...json, ...headers }, body }
}

/** Facts of a `Request` that its host has. */
export interface RequestFacts {
  /** See `Incoming`. */
  readonly requestId?: Incoming['requestId']
  /** Its address, where it is parsed already. */
  readonly url?: URL
  /** Whether the server ends the body at its announced length. */
  readonly endsAtLength?: boolean
}

/**
 * The address of a `Request`.
 * @throws TypeError for a request of Node, whose `url` is only a path
 */
export function addressOf({ url }: Request): URL {
  const address = URL.parse(url)
  if (address) return address
  throw new TypeError(
    `The community takes a Request, whose \`url\` is absolute, got \`${url}\`. For requests of Node, mount communityMiddleware of folkmoot/node`,
  )
}

/**
 * A `Request` as the kernel takes it.
 * @throws TypeError for a request of Node
 */
export function fromRequest(request: Request, facts: RequestFacts = {}): Incoming {
  const { requestId, url = addressOf(request), endsAtLength = false } = facts
  return {
    method: request.method,
    path: url.pathname,
    search: url.search,
    secure: url.protocol === 'https:',
    requestId,
    header: (name) => (name === 'host' ? (request.headers.get('host') ?? url.host) : request.headers.get(name)),
    read: async (limit, arrived) => {
      if (request.bodyUsed) throw hostReadBody()
      if (endsAtLength && hasShortBody(request, limit)) return readShort(request, limit, arrived)
      if (request.body?.locked) throw hostReadBody()
      return readStream(request, limit, arrived)
    },
  }
}

const encoder = new TextEncoder()

/** A text of up to this many characters stays text: a server may send it together with the headers, as one piece. */
const shortLength = 4_096

/**
 * The parts of a `Response`. Its body is whole and its length is stated, so that no server sends it in chunks. A response to HEAD
 * has the headers of the body, and no body.
 */
export function responseParts({ headers, body }: HttpResponse, method: string) {
  if (body === null) return { body, headers: { ...headers } }
  const whole = typeof body === 'string' && body.length > shortLength ? encoder.encode(body) : body
  const length = typeof whole === 'string' ? utf8Length(whole) : whole.length
  return { body: method === 'HEAD' ? null : whole, headers: { ...headers, 'content-length': String(length) } }
}

export function toResponse(response: HttpResponse, method: string): Response {
  const { body, headers } = responseParts(response, method)
  return new Response(body, { status: response.status, headers })
}

/**
 * A body of up to this many bytes may be read as a whole, which has no bound but the announced length. On Node, a stream holds
 * as much unread, and costs more than the rest of a write.
 */
const shortBody = 65_536

// A transfer encoding overrides the announced length.
function hasShortBody({ headers }: Request, limit: number): boolean {
  const length = headers.get('content-length')
  return length !== null && Number(length) <= Math.min(limit, shortBody) && !headers.has('transfer-encoding')
}

async function readShort(
  request: Request,
  limit: number,
  arrived: ((bytes: number) => void) | undefined,
): Promise<Uint8Array | undefined> {
  let bytes: Uint8Array
  try {
    bytes = new Uint8Array(await request.arrayBuffer())
  } catch (error) {
    // A body that breaks off counts as used; one that a host only holds does not.
    throw !request.bodyUsed && request.body?.locked ? hostReadBody() : endedBy(error)
  }
  if (bytes.length > limit) return undefined
  arrived?.(bytes.length)
  return bytes
}

async function readStream(
  request: Request,
  limit: number,
  arrived: ((bytes: number) => void) | undefined,
): Promise<Uint8Array | undefined> {
  const body = await streamOf(request).catch((error: unknown) => Promise.reject(endedBy(error)))
  if (!body) return new Uint8Array()
  const pieces = createPieces()
  let length = 0
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await next(reader)
      if (done) return pieces.whole()
      length += value.length
      if (length > limit) break
      arrived?.(value.length)
      pieces.add(value)
    }
  } catch (error) {
    await linger(reader)
    throw error
  }
  await linger(reader)
  return undefined
}

/** How long a refused body may continue before it is cut off, in milliseconds. */
export const lingerMs = 5_000

/**
 * Reads the rest of a refused body and keeps nothing of it, before the response. Hosts cut a connection whose request is
 * unfinished, some immediately. A client that is still sending then gets a reset, and never sees the response.
 */
async function linger(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => void reader.cancel().catch(() => {}), lingerMs)
  try {
    while (!(await reader.read()).done);
  } catch {
    // The client has left.
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Whether the runtime is workerd. It closes a connection with the response if a part of the body is unread. A client that is
 * still sending never sees that response. Other runtimes read on.
 */
export const cutsUnread: boolean = globalThis.navigator?.userAgent === 'Cloudflare-Workers'

/**
 * Reads the rest of a request whose response did not need its body, as far as it is not read elsewhere, and keeps nothing of it.
 */
export async function discardBody({ bodyUsed, body }: Request): Promise<void> {
  if (!bodyUsed && body && !body.locked) await linger(body.getReader())
}

/**
 * @throws ApiError 400 when the client went away: a body that breaks off is no fault of this side. 413 for a limit of the host
 */
async function next(reader: ReadableStreamDefaultReader<Uint8Array>) {
  try {
    return await reader.read()
  } catch (error) {
    throw endedBy(error)
  }
}

/** @param error of a framework: it ends a body beyond its limit, such as SvelteKit's `BODY_SIZE_LIMIT`, with the status in the error */
const endedBy = (error: unknown): ApiError =>
  error instanceof Error && 'status' in error && error.status === 413
    ? new ApiError(413, { error: 'The body is larger than the limit of the host application' })
    : bodyCut()

export const bodyCut = () => new ApiError(400, { error: 'The body ended before it was complete' })
