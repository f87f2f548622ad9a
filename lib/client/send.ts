/** One request of the client: its tries, and its answer. */
import { parseJson, readText } from './answer.ts'
import { ConnectionError, errorOf, InvalidAnswer, isClientError, requestIdOf, TimeoutError } from './errors.ts'
import { type CallOptions, isToken, type Settings, tokenRule } from './options.ts'
import { isPassing, type Repeated, waitBefore } from './retry.ts'
import { orAborted, pause } from './timing.ts'

/** A body on its way out. */
export interface Payload {
  /** `undefined` for a form, whose type has a boundary that the runtime draws. */
  readonly type?: string | undefined
  readonly content: string | FormData | ReadableStream<Uint8Array>
  /** It can be sent once, so the request is never tried again. */
  readonly isOnce?: boolean
}

/** A request on its way out. */
export interface Outgoing extends Repeated {
  readonly url: string
  readonly payload?: Payload | undefined
}

/** An answer that is a success. */
export interface Received {
  readonly status: number
  readonly headers: Headers
  readonly requestId: string | undefined
  /** Its JSON; `undefined` if it has no body. */
  readonly body: unknown
}

/** Sends a request, again where that may help. */
export type Send = (outgoing: Outgoing, options: CallOptions) => Promise<Received>

const maxRedirects = 3
const maxErrorText = 10_000

/** Binds `send` to a client. */
export function sender(settings: Settings): Send {
  const { timing } = settings

  return async (outgoing, options) => {
    const { signal, maxRetries = settings.maxRetries } = options
    const request = `${outgoing.method} ${new URL(outgoing.url).pathname}`
    const key = outgoing.method === 'POST' ? (options.idempotencyKey ?? newKey()) : undefined
    for (let tries = 1; ; tries++) {
      signal?.throwIfAborted()
      try {
        return await oneTry(request, outgoing, options, key)
      } catch (error) {
        if (!isClientError(error) || !isPassing(error, outgoing)) throw error
        const waitMs = waitBefore(error.headers, tries, timing)
        if (tries > maxRetries || outgoing.payload?.isOnce || waitMs > settings.maxRetryWait) throw error
        settings.onRetry({ request, tries, waitMs, error })
        await pause(timing, waitMs, signal)
      }
    }
  }

  async function oneTry(
    request: string,
    outgoing: Outgoing,
    { signal, timeout = settings.timeout }: CallOptions,
    key: string | undefined,
  ): Promise<Received> {
    const own = new AbortController()
    const onAbort = (): void => own.abort(signal?.reason)
    signal?.addEventListener('abort', onAbort, { once: true })
    const takeBack = timing.after(timeout, () =>
      own.abort(new TimeoutError(`${request}: no answer within ${timeout} ms`, { code: 'timeout' })),
    )
    try {
      return await exchange(request, outgoing, key, own.signal)
    } catch (error) {
      throw own.signal.aborted ? own.signal.reason : error
    } finally {
      takeBack()
      signal?.removeEventListener('abort', onAbort)
      // Parts of this try that still run are not needed.
      own.abort()
    }
  }

  async function exchange(request: string, outgoing: Outgoing, key: string | undefined, signal: AbortSignal): Promise<Received> {
    const token = await orAborted(Promise.resolve(settings.token()), signal)
    if (!isToken(token)) throw new TypeError(`option ${tokenRule}`)
    const headers = new Headers({ accept: 'application/json', authorization: `Bearer ${token}` })
    if (outgoing.payload?.type) headers.set('content-type', outgoing.payload.type)
    if (key !== undefined) headers.set('idempotency-key', key)
    const response = await fetchHere(request, outgoing, headers, signal)
    const { status } = response
    const text = await lostIfBroken(request, readText(request, response, settings.maxAnswerBytes, signal))
    if (response.ok) return { status, headers: response.headers, ...read(request, response, text) }
    const error = errorOf(request, status, response.headers, jsonOrText(text))
    // A proxy in between may show what it was sent.
    error.message = error.message.replaceAll(token, '[token]')
    throw error
  }

  /** Follows redirects on the origin of the server only: no other server gets the token. */
  async function fetchHere(request: string, { url, method, payload }: Outgoing, headers: Headers, signal: AbortSignal) {
    let address = url
    for (let redirects = 0; ; redirects++) {
      const response = await lostIfBroken(request, orAborted(fetchOnce(address, method, payload, headers, signal), signal))
      if (!(response instanceof Response) && !isResponse(response))
        throw new InvalidAnswer(`${request}: option \`fetch\` returned no Response`, { code: 'invalid_answer', status: 0 })
      const location = locationOf(response, address)
      if (location === undefined) return response
      response.body?.cancel().catch(() => {})
      const isHere = location !== '' && new URL(location).origin === new URL(url).origin
      const keepsMethod = response.status === 307 || response.status === 308 || method === 'GET'
      if (!isHere || !keepsMethod || payload?.isOnce || redirects === maxRedirects)
        throw new InvalidAnswer(
          `${request}: the server redirects to ${location === '' ? 'another address' : new URL(location).origin}. Set \`baseUrl\` to the address that answers`,
          { code: 'redirected', status: response.status, headers: response.headers },
        )
      address = location
    }
  }

  async function fetchOnce(url: string, method: string, payload: Payload | undefined, headers: Headers, signal: AbortSignal) {
    const init: RequestInit & { duplex?: 'half' } = { method, headers, signal, redirect: 'manual' }
    if (payload) init.body = payload.content
    // Streams need it; runtimes that know no streams of requests do not look at it.
    if (payload?.content instanceof ReadableStream) init.duplex = 'half'
    return settings.fetch(new Request(url, init))
  }
}

// Another copy of `fetch` has its own class `Response`.
const isResponse = (value: unknown): value is Response =>
  typeof value === 'object' && value !== null && 'headers' in value && 'status' in value

/** The place of a redirect; `''` if a browser hides it, `undefined` for every other answer. */
function locationOf(response: Response, from: string): string | undefined {
  if (response.type === 'opaqueredirect') return ''
  if (response.status < 300 || response.status > 399) return undefined
  const location = response.headers.get('location')
  return location !== null && URL.canParse(location, from) ? new URL(location, from).href : ''
}

/** Any failure to get an answer, other than one that this client found, is a lost connection. */
async function lostIfBroken<T>(request: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (isClientError(cause)) throw cause
    throw new ConnectionError(`${request}: the connection failed or was lost`, { code: 'connection_failed', cause })
  }
}

function read(request: string, { status, headers }: Response, text: string): Pick<Received, 'body' | 'requestId'> {
  try {
    const body = text.trim() === '' ? undefined : parseJson(text)
    return { body, requestId: requestIdOf(headers, undefined) }
  } catch (cause) {
    const type = headers.get('content-type') ?? 'no content type'
    throw new InvalidAnswer(`${request}: the answer is not JSON (${type})`, {
      ...{ code: 'invalid_answer', status, headers, cause },
      body: text.slice(0, maxErrorText),
    })
  }
}

function jsonOrText(text: string): unknown {
  try {
    return text.trim() === '' ? undefined : parseJson(text)
  } catch {
    return text.slice(0, maxErrorText)
  }
}

/** A random key. `crypto.randomUUID` is missing on pages without https. */
const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
