/** One request: the stored bytes, posted once, and its response read as far as it matters. */
import type { Dispatcher } from 'undici/index.js'
import type { Clock } from '../clock.ts'
import type { Hide } from './hidden-values.ts'
import { keptBody, keptHeaders, type ResponseHeaders, readBytes } from './kept-response.ts'
import { classify, classifyStatus, type Outcome } from './outcome.ts'
import { brokeWithoutResponse, firstError } from './responses.ts'
import { parseRetryAfter } from './retry-after.ts'

/** The outcome of a request; its caller measures the duration of the attempt. */
export type PostOutcome = Omit<Outcome, 'milliseconds'>

/** The outcome of one request, and whether it may not have arrived because its connection had been kept for too long. */
export interface PostResult {
  readonly outcome: PostOutcome
  readonly isLost: boolean
  readonly hadConnection: boolean
}

export interface PostRequest {
  readonly origin: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  /** Takes the secrets of the request out of what is kept of its response. */
  readonly hide: Hide
  /** Called once there is a connection, which may take long: whether it may still be sent. */
  readonly isAllowed: () => boolean
  readonly clock: Clock
}

/** Why a request was stopped, though its time was not over. Its message becomes the outcome's reason. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
}

/** Of a response at most this much is read; its end is of no interest. */
const maxResponseBytes = 64 * 1024

/**
 * Milliseconds for the rest of a response that has acknowledged. Most have none, or it is there already. The connection is kept if
 * it comes.
 */
const restMs = 250

const acknowledges = (status: number | null): boolean => status !== null && status >= 200 && status < 300

/** The outcome of a request that its signal ended. */
export const endedBy = (reason: unknown, status: number | null = null, retryAfter?: number): PostOutcome =>
  reason instanceof Stopped
    ? { result: 'aborted', reason: reason.message, status: null, retryAfter: undefined }
    : { result: 'timeout', reason: 'no response in time', status, retryAfter }

/**
 * Posts once, and follows nothing. Never rejects. The status acknowledges, whatever becomes of the body after it.
 * @param signal ends the request: by a `Stopped`, else because its time is over
 */
export function post(dispatcher: Dispatcher, request: PostRequest, signal: AbortSignal): Promise<PostResult> {
  return new Promise((resolve) => {
    const { origin, path, headers, body, hide, clock } = request
    let controller: Dispatcher.DispatchController | undefined
    let settled = false
    let status: number | null = null
    let retryAfter: string | undefined
    let received = 0
    let stopWaiting = (): void => undefined
    let headersGiven: ResponseHeaders = {}
    const kept: Buffer[] = []

    function settle(outcome: PostOutcome, isLost = false): void {
      if (settled) return
      settled = true
      signal.removeEventListener('abort', abort)
      stopWaiting()
      const hadConnection = controller !== undefined
      resolve({ outcome: acknowledges(status) ? responseOutcome() : outcome, isLost, hadConnection })
    }
    /** The delay that the response requests; its headers count, even if its body breaks off. */
    const requestedDelay = (): number | undefined =>
      status === null || status < 300 ? undefined : parseRetryAfter(retryAfter, clock.now())
    const failed = (result: Outcome['result'], reason: string, isLost = false): void =>
      settle({ result, reason, status, retryAfter: requestedDelay() }, isLost)

    /** Ends the request and its connection; before the request begins there is nothing to end but the waiting. */
    function stop(reason: unknown): void {
      settle(endedBy(reason, status, requestedDelay()))
      controller?.abort(reason instanceof Error ? reason : new Error('deadline'))
    }
    const abort = (): void => stop(signal.reason)

    /** Ends the request at something that is not HTTP as it should be. */
    function refuse(reason: string): void {
      failed('protocol', reason)
      controller?.abort(new Error(reason))
    }

    function responseOutcome(): PostOutcome {
      if (status === null) return { result: 'protocol', reason: 'no status', status, retryAfter: undefined }
      const reason = String(status)
      if (acknowledges(status)) return { result: 'delivered', reason, status, retryAfter: undefined }
      const encoding = [headersGiven['content-encoding'] ?? ''].flat().join(', ')
      const text = keptBody(Buffer.concat(kept).subarray(0, readBytes), received, encoding, hide)
      const headerText = keptHeaders(headersGiven, hide)
      return {
        ...{ result: classifyStatus(status), reason, status, retryAfter: requestedDelay() },
        ...(text === '' ? {} : { responseBody: text }),
        ...(headerText === '' ? {} : { responseHeaders: headerText }),
      }
    }

    /** Does without the rest of a response, and ends its connection. */
    function drop(reason: string): void {
      settle(responseOutcome())
      controller?.abort(new Error(reason))
    }

    function broken(error: unknown): void {
      const { result, reason } = classify(firstError(error))
      failed(result, reason, result === 'reset' && brokeWithoutResponse(error))
    }

    signal.addEventListener('abort', abort)
    try {
      dispatcher.dispatch(
        { origin, path, method: 'POST', headers, body },
        {
          onRequestStart(given) {
            controller = given
            // It waited for a connection until its time was over: it must not go out now.
            if (settled) given.abort(new Error('deadline'))
            else if (!request.isAllowed()) stop(new Stopped('the lease is nearly over'))
          },
          onRequestUpgrade(_, code, __, socket) {
            socket.destroy()
            status = code
            failed('protocol', 'upgrade')
          },
          onResponseStart(_, code, given) {
            if (code < 200) return refuse('a status below 200')
            status = code
            const header = given['retry-after']
            retryAfter = Array.isArray(header) ? header[0] : header
            headersGiven = given
            if (acknowledges(code)) stopWaiting = clock.timer(restMs, () => drop('no end of the response'))
          },
          onResponseData(_, chunk) {
            if (received < readBytes && status !== null && status >= 300) kept.push(chunk)
            received += chunk.length
            if (received > maxResponseBytes) drop('response too long')
          },
          onResponseEnd: () => settle(responseOutcome()),
          onResponseError: (_, error) => broken(error),
        },
      )
    } catch (error) {
      broken(error)
    }
  })
}
