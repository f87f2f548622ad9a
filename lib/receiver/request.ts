/** The headers and the raw bytes of a request, in each of the forms in which frameworks hand it over. */
import { type Bytes, joined, utf8 } from '../base/bytes.ts'
import { WebhookError } from './errors.ts'

/**
 * A request that is no Web `Request`: one of Node's HTTP server, of Express, Koa or Fastify, of a function platform. Its body is
 * the bytes that were sent, in `rawBody`, in `body`, or still to be read.
 */
export interface RawRequest {
  /** In capitals, such as `POST`; left out, it is not checked. */
  readonly method?: string | undefined
  /** An object of names and values, as Node has it, or a Web `Headers`. The case of names does not matter. */
  readonly headers: HeadersOf | Readonly<Record<string, string | readonly string[] | undefined>>
  /** The bytes as they were sent, from a parser that keeps them; it goes before `body`. */
  readonly rawBody?: unknown
  /** The bytes as they were sent. A body parsed as JSON is refused, because its signature cannot be checked. */
  readonly body?: unknown
}

interface HeadersOf {
  /** The value of a header, in any case; null if there is none. */
  get(name: string): string | null
}

/** The part of a Web `Request` that `receive` needs; every runtime's own fits. */
export interface WebRequest {
  /** In capitals, such as `POST`. */
  readonly method: string
  /** The headers, of which those of the signature and the event are read. */
  readonly headers: HeadersOf
  /** The stream of the body; null if it has none. */
  readonly body: unknown
  /** Whether the body was read before; then its signature cannot be checked. */
  readonly bodyUsed: boolean
  /** Reads the whole body; called where `body` is no stream. */
  arrayBuffer(): Promise<ArrayBuffer>
}

/** A request as `receive` takes it. */
export type WebhookRequest = WebRequest | RawRequest

const isWeb = (request: WebhookRequest): request is WebRequest =>
  'arrayBuffer' in request && typeof request.arrayBuffer === 'function'

const howRaw = 'Hand over the bytes as they were sent: take the body before any parser, such as by express.raw()'

const hasGet = (headers: RawRequest['headers']): headers is HeadersOf => typeof headers['get'] === 'function'

/** @throws TypeError for what is no request */
export function checkRequest(request: unknown): void {
  const { headers } = (request ?? {}) as { readonly headers?: unknown }
  if (typeof headers !== 'object' || headers === null)
    throw new TypeError('the first argument must be a Request, or an object with headers and body')
}

/** Reads a header, whatever the case of its name; `undefined` if it is missing. Several of one name are joined, as on the wire. */
export function headerReader({ headers }: WebhookRequest): (name: string) => string | undefined {
  if (hasGet(headers)) return (name) => headers.get(name) ?? undefined
  const values = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return (name) => {
    // Some platforms hand over null for a header that is missing.
    const value: string | readonly string[] | null | undefined = values.get(name)
    return typeof value === 'string' ? value : (value?.join(', ') ?? undefined)
  }
}

/**
 * The body as it was sent.
 * @param maxBytes a longer one is not read to its end
 * @throws WebhookError `body_parsed`, `body_too_large`, `body_incomplete`, `body_missing`
 */
export async function rawBody(request: WebhookRequest, maxBytes: number): Promise<Bytes> {
  if (Number(headerReader(request)('content-length')) > maxBytes) throw tooLarge(maxBytes)
  const bytes = await (isWeb(request) ? webBody(request, maxBytes) : givenBody(request, maxBytes))
  if (bytes.length > maxBytes) throw tooLarge(maxBytes)
  if (bytes.length === 0)
    throw new WebhookError('body_missing', `The body is empty. If it was sent, a parser has read it. ${howRaw}.`)
  // An object that was given as the body of a new Request.
  if (new TextDecoder().decode(bytes.subarray(0, 16)) === '[object Object]') throw parsedAlready()
  return bytes
}

const tooLarge = (maxBytes: number): WebhookError =>
  new WebhookError('body_too_large', `The body has more than ${maxBytes} bytes.`)

const parsedAlready = (): WebhookError =>
  new WebhookError('body_parsed', `The body was parsed before: the bytes that are signed are gone. ${howRaw}.`)

async function webBody(request: WebRequest, maxBytes: number): Promise<Bytes> {
  if (request.bodyUsed) throw new WebhookError('body_parsed', `The body of the Request was read before. ${howRaw}.`)
  const { body } = request
  if (body === null) return new Uint8Array()
  if (!(body instanceof ReadableStream)) return new Uint8Array(await request.arrayBuffer().catch(broken))
  const reader = body.getReader()
  return gathered(
    () => reader.read(),
    maxBytes,
    () => void reader.cancel().catch(() => undefined),
  )
}

async function givenBody(request: RawRequest, maxBytes: number): Promise<Bytes> {
  const given = request.rawBody ?? request.body
  if (typeof given === 'string') {
    if (given.length > maxBytes) throw tooLarge(maxBytes)
    return utf8(given)
  }
  if (given instanceof ArrayBuffer) return new Uint8Array(given)
  if (given instanceof Uint8Array) {
    if (given.length > maxBytes) throw tooLarge(maxBytes)
    return new Uint8Array(given)
  }
  if (given !== undefined && given !== null) throw parsedAlready()
  const { [Symbol.asyncIterator]: iterate } = request as { readonly [Symbol.asyncIterator]?: () => AsyncIterator<unknown> }
  if (typeof iterate !== 'function') return new Uint8Array()
  const iterator = iterate.call(request)
  // Not ended when it is too long: that would close the connection before the response.
  return gathered(
    () => iterator.next(),
    maxBytes,
    () => undefined,
  )
}

interface Step {
  readonly done?: boolean | undefined
  readonly value?: unknown
}

async function gathered(next: () => Promise<Step>, maxBytes: number, cancel: () => void): Promise<Bytes> {
  const chunks: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await next().catch(broken)
    if (done) return joined(chunks)
    const chunk = typeof value === 'string' ? utf8(value) : value
    if (!(chunk instanceof Uint8Array)) throw parsedAlready()
    length += chunk.length
    if (length > maxBytes) {
      cancel()
      throw tooLarge(maxBytes)
    }
    chunks.push(chunk)
  }
}

function broken(cause: unknown): never {
  throw new WebhookError('body_incomplete', 'The body ended too early.', { cause })
}
