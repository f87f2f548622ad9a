/** Downloading a file that a record names, such as `url` of an asset. */
import { errorOf, InvalidResponse, TimeoutError } from './errors.ts'
import { isResponse, lostIfBroken, timed } from './fetching.ts'
import { type CallOptions, checkCallOptions, type Settings } from './options.ts'
import { withRetries } from './retry.ts'
import { orAborted } from './timing.ts'

/** Options of a download. `timeout` is the time until it begins, and the longest time without a new byte of it. */
export interface DownloadOptions extends Omit<CallOptions, 'idempotencyKey'> {
  /** The largest file, in bytes: the stream of a larger one fails. The client's `maxResponseBytes` by default. */
  readonly maxBytes?: number | undefined
}

/** A file on its way in. */
export interface Download {
  /** The bytes of the file as they arrive. It can be read once. */
  readonly stream: ReadableStream<Uint8Array>
  /** Its media type, if the server sends one. */
  readonly type: string | null
  /** Its size in bytes, if the server sends it. */
  readonly size: number | null
  /** The headers of the response. */
  readonly headers: Headers
}

interface Bounds {
  readonly maxBytes: number
  /** Milliseconds without a new byte. */
  readonly timeout: number
  readonly signal: AbortSignal | undefined
}

/** A stream that fails when it is larger than allowed, when no byte comes any more, and when the caller gives it up. */
function bounded(
  request: string,
  response: Response,
  { maxBytes, timeout, signal }: Bounds,
  { timing }: Settings,
): ReadableStream<Uint8Array> {
  const reader = response.body?.getReader()
  let size = 0
  return new ReadableStream({
    async pull(controller) {
      if (!reader) return controller.close()
      const stalled = new AbortController()
      const takeBack = timing.after(timeout, () =>
        stalled.abort(new TimeoutError(`${request}: no byte within ${timeout} ms`, { code: 'timeout' })),
      )
      try {
        const until = signal ? AbortSignal.any([signal, stalled.signal]) : stalled.signal
        const { done, value } = await orAborted(lostIfBroken(request, reader.read()), until)
        if (done) return controller.close()
        size += value.length
        if (size > maxBytes)
          throw new InvalidResponse(`${request}: the file is larger than ${maxBytes} bytes (option \`maxBytes\`)`, {
            ...{ code: 'response_too_large', status: response.status, headers: response.headers },
          })
        controller.enqueue(value)
      } catch (error) {
        reader.cancel(error).catch(() => {})
        throw error
      } finally {
        takeBack()
      }
    },
    async cancel(reason) {
      await reader?.cancel(reason)
    },
  })
}

/** Binds `client.download`; see there. */
export function downloader(settings: Settings) {
  return async (
    url: string | URL,
    { maxBytes = settings.maxResponseBytes, ...options }: DownloadOptions = {},
  ): Promise<Download> => {
    checkCallOptions('download', options)
    const address = URL.parse(String(url), settings.root)
    if (!address || !/^https?:$/.test(address.protocol)) throw new TypeError('download: url must be an http or https URL')
    if (!Number.isSafeInteger(maxBytes) || maxBytes < 1)
      throw new TypeError('download: option `maxBytes` must be a whole number above 0')
    const request = `GET ${address.origin}${address.pathname}`
    const repeated = { method: 'GET', conflictStays: false }
    return withRetries(settings, request, repeated, options, () =>
      timed(settings, request, options, async (signal) => {
        const until = options.signal ? AbortSignal.any([signal, options.signal]) : signal
        // No token: the file may be on another server. So redirects may lead anywhere too.
        const work = async (): Promise<unknown> => settings.fetch(new Request(address, { signal: until }))
        const response = await lostIfBroken(request, orAborted(work(), signal))
        if (!isResponse(response))
          throw new InvalidResponse(`${request}: option \`fetch\` returned no Response`, { code: 'invalid_response', status: 0 })
        const { headers, status } = response
        if (!response.ok) {
          response.body?.cancel().catch(() => {})
          throw errorOf(request, status, headers, undefined)
        }
        const length = headers.get('content-length')
        const { signal: given, timeout = settings.timeout } = options
        const stream = bounded(request, response, { maxBytes, timeout, signal: given }, settings)
        return { stream, type: headers.get('content-type'), size: length === null ? null : Number(length), headers }
      }),
    )
  }
}
