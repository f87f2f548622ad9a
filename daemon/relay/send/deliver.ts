/** One attempt: the stored bytes, posted once, with one deadline over everything. */
import type { Dispatcher } from 'undici'
import type { Replaced } from '../../../lib/outbox/record.ts'
import type { Clock } from '../clock.ts'
import { parseRetryAfter } from '../schedule/schedule.ts'
import type { Endpoint } from '../store/store.ts'
import { type ConnectionSettings, openConnections } from './connections.ts'
import { checkUrl, type Resolve } from './guard.ts'
import { classify, classifyStatus, type Outcome } from './outcome.ts'
import { signatureHeaders } from './signature.ts'

export interface Attempt {
  readonly endpoint: Pick<Endpoint, 'ref' | 'url' | 'key' | 'secrets'> & Partial<Pick<Endpoint, 'old_keys' | 'old_secrets'>>
  readonly event_id: string
  readonly body: Uint8Array
  /** Asked when there is a connection, which may take long: whether it may still be sent. Default: it may. */
  readonly isAllowed?: () => boolean
}

export interface Courier {
  /** Makes one attempt. Never rejects: whatever happens is an outcome. */
  send(attempt: Attempt): Promise<Outcome>
  /** Ends every running attempt; their outcome is `aborted`. */
  abort(): void
  /** Lets go of the connections of an endpoint. */
  forget(endpoint: number): void
  close(): Promise<void>
}

/** Of an answer at most this much is read; its end is of no interest. */
const maxAnswerBytes = 64 * 1024
/** Of one that is not 2xx this much is kept. */
const keptAnswerBytes = 2 * 1024

/** Informational answers (1xx) before the answer itself: so many, with headers of so many characters. */
const maxInformational = 16
const maxInformationalLength = 64 * 1024

class Aborted extends Error {}

/** When an attempt began, and how often attempts had been aborted by then. */
interface Begun {
  readonly started: number
  readonly aborts: number
}

const isKeyRefused = ({ status }: Outcome): boolean => status === 401 || status === 403

/** The replaced keys or secrets that hold at this time. */
const heldAt = (old: readonly Replaced[] | undefined, now: number): readonly string[] =>
  (old ?? []).filter(({ until }) => Date.parse(until) > now).map(({ value }) => value)

const secretsAt = ({ secrets, old_secrets }: Attempt['endpoint'], now: number): readonly string[] =>
  old_secrets && old_secrets.length > 0 ? [...secrets, ...heldAt(old_secrets, now)] : secrets

/**
 * What sends webhooks as the specification's section 6 says: POST, any 2xx acknowledges, nothing is followed.
 * @param settings read anew at each attempt
 */
export function createCourier(settings: () => ConnectionSettings, clock: Clock, resolve: Resolve, userAgent: string): Courier {
  const connections = openConnections(settings, resolve)
  const running = new Set<(error: Error) => void>()
  let aborts = 0

  /**
   * One attempt. A receiver that refuses the key may still have one that was replaced: those are tried at once, within the
   * same time-out, as long as they hold.
   */
  async function send(attempt: Attempt): Promise<Outcome> {
    const { key, old_keys } = attempt.endpoint
    const begun = { started: clock.monotonic(), aborts }
    const first = await post(attempt, key, begun)
    if (!isKeyRefused(first)) return first
    let last = first
    for (const old of heldAt(old_keys, clock.now())) {
      last = await post(attempt, old, begun)
      if (!isKeyRefused(last)) return last
    }
    return { ...first, milliseconds: last.milliseconds }
  }

  function post({ endpoint, event_id, body, isAllowed = () => true }: Attempt, key: string, begun: Begun): Promise<Outcome> {
    const { started } = begun
    const ended = (result: Outcome['result'], reason: string, status: number | null = null, retryAfter?: number): Outcome => ({
      result,
      reason,
      status,
      retryAfter,
      milliseconds: Math.round(clock.monotonic() - started),
    })
    if (begun.aborts !== aborts) return Promise.resolve(ended('aborted', 'shutting down'))
    const url = checkUrl(endpoint.url, settings())
    if (!url.ok) return Promise.resolve(ended('blocked', url.reason))

    return new Promise((resolveOutcome) => {
      let controller: Dispatcher.DispatchController | undefined
      let settled = false
      let status: number | null = null
      let retryAfter: string | undefined
      let received = 0
      let informational = 0
      let informationalLength = 0
      const kept: Buffer[] = []

      const settle = (outcome: Outcome): void => {
        if (settled) return
        settled = true
        cancelDeadline()
        running.delete(stop)
        resolveOutcome(outcome)
      }
      /** Ends the attempt and its connection; before the request begins there is nothing to end but our waiting. */
      const stop = (error: Error): void => {
        settle(error instanceof Aborted ? ended('aborted', 'shutting down') : ended('timeout', 'no answer in time', status))
        controller?.abort(error)
      }
      /** Ends the attempt at something that is not HTTP as it should be. */
      const refuse = (reason: string): void => {
        settle(ended('protocol', reason, status))
        controller?.abort(new Error(reason))
      }
      const answered = (): void => {
        const acknowledged = status !== null && status >= 200 && status < 300
        if (status === null) settle(ended('protocol', 'no status'))
        else if (acknowledged) settle(ended('delivered', String(status), status))
        else {
          const failed = ended(classifyStatus(status), String(status), status, parseRetryAfter(retryAfter, clock.now()))
          // A NUL is text that PostgreSQL does not take: whoever answers with one must not stop the recording of results.
          const answer = Buffer.concat(kept).subarray(0, keptAnswerBytes).toString('utf8').replaceAll('\0', '\ufffd')
          settle(answer === '' ? failed : { ...failed, answer })
        }
      }
      const cancelDeadline = clock.timer(Math.max(0, settings().timeout * 1000 - (clock.monotonic() - started)), () =>
        stop(new Error('deadline')),
      )
      running.add(stop)

      try {
        connections.to(endpoint.ref, url.origin).dispatch(
          {
            origin: url.origin,
            path: url.path,
            method: 'POST',
            headers: {
              'content-type': 'application/json',
              accept: 'application/json',
              authorization: `Bearer ${key}`,
              'user-agent': userAgent,
              ...signatureHeaders(secretsAt(endpoint, clock.now()), event_id, body, clock.now()),
            },
            body,
          },
          {
            onRequestStart(given) {
              controller = given
              // It waited for a connection until its time was over: it must not go out now.
              if (settled) given.abort(new Error('deadline'))
              else if (!isAllowed()) stop(new Aborted())
            },
            onRequestUpgrade(_, code, __, socket) {
              socket.destroy()
              status = code
              settle(ended('protocol', 'upgrade'))
            },
            onResponseStart(_, code, headers) {
              if (code < 100) return refuse('a status below 100')
              // 1xx are not the answer. But reading them costs as much as reading one.
              if (code < 200) {
                informational++
                informationalLength += JSON.stringify(headers).length
                if (informational > maxInformational || informationalLength > maxInformationalLength)
                  refuse('informational answers without end')
                return
              }
              status = code
              const header = headers['retry-after']
              retryAfter = Array.isArray(header) ? header[0] : header
            },
            onResponseData(given, chunk) {
              if (received < keptAnswerBytes && status !== null && status >= 300) kept.push(chunk)
              received += chunk.length
              if (received <= maxAnswerBytes) return
              answered()
              given.abort(new Error('answer too long'))
            },
            onResponseEnd: answered,
            onResponseError(_, error) {
              const { result, reason } = classify(error)
              settle(ended(result, reason, status))
            },
          },
        )
      } catch (error) {
        const { result, reason } = classify(error)
        settle(ended(result, reason))
      }
    })
  }

  return {
    send,
    abort() {
      aborts++
      for (const stop of running) stop(new Aborted())
    },
    forget: (endpoint) => connections.forget(endpoint),
    close: () => connections.close(),
  }
}
