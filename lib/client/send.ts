/** One request of the client: its tries, and its response. */

import { errorOf, InvalidResponse, isClientError, requestIdOf } from './errors.ts'
import { isResponse, locationOf, lostCode, lostIfBroken, timed, unreadableFile } from './fetching.ts'
import { type CallOptions, isToken, type Settings, tokenRule } from './options.ts'
import { parseJson, readText } from './response.ts'
import { type RepetitionFacts, withRetries } from './retry.ts'
import { orAborted } from './timing.ts'

/** A body on its way out. */
export interface Payload {
  /** `undefined` for a form, whose type has a boundary that the runtime draws. */
  readonly type?: string | undefined
  readonly content: string | FormData | ReadableStream<Uint8Array>
  /** Why a file could not be read while it was sent; `undefined` if it could. */
  readonly failure?: () => { readonly cause: unknown } | undefined
}

/** A request on its way out. */
export interface Outgoing extends RepetitionFacts {
  readonly url: string
  readonly payload?: Payload | undefined
}

/** A response that is a success. */
export interface ReceivedResponse {
  readonly status: number
  readonly headers: Headers
  readonly requestId: string | undefined
  /** Its JSON; `undefined` if it has no body. */
  readonly body: unknown
}

/** Sends a request, again where that may help. */
export type Send = (outgoing: Outgoing, options: CallOptions) => Promise<ReceivedResponse>

const maxRedirects = 3
const maxShownText = 10_000

export function sender(settings: Settings): Send {
  return async (outgoing, options) => {
    const request = `${outgoing.method} ${new URL(outgoing.url).pathname}`
    const key = outgoing.method === 'POST' ? (options.idempotencyKey ?? newKey()) : undefined
    try {
      return await withRetries(settings, request, outgoing, options, () =>
        timed(settings, request, options, (signal) => exchange(request, outgoing, key, options.ifPreview, signal)),
      )
    } catch (error) {
      const content = outgoing.payload?.content
      if (content instanceof ReadableStream && !content.locked) content.cancel(error).catch(() => {})
      const failure = outgoing.payload?.failure?.()
      // Runtimes hide it behind errors of their own.
      throw failure && isClientError(error) && error.code === lostCode ? unreadableFile(request, failure.cause) : error
    }
  }

  async function exchange(
    request: string,
    outgoing: Outgoing,
    key: string | undefined,
    ifPreview: string | undefined,
    signal: AbortSignal,
  ) {
    const token = await orAborted(Promise.resolve(settings.token()), signal)
    if (!isToken(token)) throw new TypeError(`option ${tokenRule}`)
    const headers = new Headers({ accept: 'application/json', authorization: `Bearer ${token}` })
    if (outgoing.payload?.type) headers.set('content-type', outgoing.payload.type)
    if (key !== undefined) headers.set('idempotency-key', key)
    if (ifPreview !== undefined) headers.set('if-preview', ifPreview)
    const response = await fetchHere(request, outgoing, headers, signal)
    const text = await lostIfBroken(
      request,
      readText(request, response, settings.maxResponseBytes, signal),
      new URL(outgoing.url).origin,
    )
    if (response.ok) return received(request, response, text)
    const error = errorOf(request, response.status, response.headers, jsonOrText(text))
    // A proxy in between may show the request that it refuses.
    error.message = error.message.replaceAll(token, '[token]')
    throw error
  }

  /** Follows redirects on the origin of the server only: no other server gets the token. */
  async function fetchHere(request: string, outgoing: Outgoing, headers: Headers, signal: AbortSignal): Promise<Response> {
    const { url, method, isOnce } = outgoing
    let address = url
    for (let redirects = 0; ; redirects++) {
      const response: unknown = await lostIfBroken(
        request,
        orAborted(fetchOnce(address, outgoing, headers, signal), signal),
        new URL(url).origin,
      )
      if (!isResponse(response))
        throw new InvalidResponse(`${request}: option \`fetch\` returned no Response`, { code: 'invalid_response', status: 0 })
      const location = locationOf(response, address)
      if (location === undefined) return response
      response.body?.cancel().catch(() => {})
      const origin = location === '' ? undefined : new URL(location).origin
      const keepsMethod = response.status === 307 || response.status === 308 || method === 'GET'
      if (origin !== new URL(url).origin || !keepsMethod || isOnce || redirects === maxRedirects) {
        const failed = { code: 'redirected', status: response.status, headers: response.headers }
        throw new InvalidResponse(`${request}: ${redirectProblem(response, origin, redirects)}`, failed)
      }
      address = location
    }
  }

  async function fetchOnce(url: string, { method, payload }: Outgoing, headers: Headers, signal: AbortSignal): Promise<unknown> {
    const init: RequestInit & { duplex?: 'half' } = { method, headers, signal, redirect: 'manual' }
    if (payload) init.body = await sendable(payload.content)
    if (init.body instanceof ReadableStream) init.duplex = 'half'
    return settings.fetch(new Request(url, init))
  }

  /** @throws InvalidResponse if the text is not JSON */
  function received(request: string, { status, headers }: Response, text: string): ReceivedResponse {
    const requestId = requestIdOf(headers, undefined)
    try {
      return { status, headers, requestId, body: text.trim() === '' ? undefined : parseJson(text, settings.ids) }
    } catch (cause) {
      const type = headers.get('content-type') ?? 'no content type'
      const failed = { code: 'invalid_response', status, headers, requestId, cause, body: text.slice(0, maxShownText) }
      throw new InvalidResponse(`${request}: the response is not JSON (${type})`, failed)
    }
  }

  function jsonOrText(text: string): unknown {
    try {
      return text.trim() === '' ? undefined : parseJson(text, settings.ids)
    } catch {
      return text.slice(0, maxShownText)
    }
  }
}

/** Firefox would send a stream as the text `[object ReadableStream]`. It is the one whose `Request` has no `body` either. */
const sendable = async (content: Payload['content']): Promise<Payload['content'] | Blob> =>
  content instanceof ReadableStream && !('body' in Request.prototype) ? new Response(content).blob() : content

/** @param origin the origin of the address that the redirect leads to, if it leads to one */
function redirectProblem({ status, type }: Response, origin: string | undefined, redirects: number): string {
  if (redirects === maxRedirects) return `the server redirects more than ${maxRedirects} times`
  if (origin === undefined && type !== 'opaqueredirect') return `the server responds with ${status}, but without an address`
  const place = origin === undefined || origin === 'null' ? 'another address' : origin
  return `the server redirects to ${place}. Set \`baseUrl\` to the final address`
}

/** A random key. `crypto.randomUUID` is missing on pages without https. */
const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
