/** One attempt: a webhook is posted within one time-out; a receiver that still has a replaced key gets that one. */
import { TimeoutStrategy, timeout } from 'cockatiel'
import type { Replaced } from '../../../lib/outbox/record.ts'
import type { AttemptTimeout } from '../attempt-timeout.ts'
import type { Clock } from '../clock.ts'
import { type ConnectionSettings, openConnections } from './connections.ts'
import type { OpenEndpoint } from './credentials.ts'
import { type Resolve, refusedByList, urlChecker } from './guard.ts'
import { type Answer, endedBy, post, Stopped } from './http-post.ts'
import { classify, type Outcome } from './outcome.ts'
import { signatureHeaders } from './signature.ts'

export interface Attempt {
  readonly endpoint: OpenEndpoint
  readonly event_id: string
  readonly body: Uint8Array
  /** Milliseconds for all of it: name, connection, TLS, requests and answers. */
  readonly timeout: AttemptTimeout
  /** Asked when there is a connection, which may take long: whether it may still be sent. Default: it may. */
  readonly isAllowed?: () => boolean
}

export interface Sender {
  /** Makes one attempt. Never rejects: whatever happens is an outcome. */
  send(attempt: Attempt): Promise<Outcome>
  /** Ends every running attempt; their outcome is `aborted`, with this reason. */
  abort(reason: string): void
  /** Lets go of the connections of an endpoint. */
  forget(endpoint: number): void
  close(): Promise<void>
}

/**
 * The attempt ends by itself when its signal is aborted. By default cockatiel also aborts the signal after an attempt, which
 * makes an error with a stack for each delivery. That costs seven times as much as the rest of the policy.
 */
const cooperative = { strategy: TimeoutStrategy.Cooperative, abortOnReturn: false } as const

const isKeyRefused = ({ status }: Answer): boolean => status === 401 || status === 403

/** The replaced keys or secrets that hold at this time. */
const heldAt = (old: readonly Replaced[], now: number): readonly string[] =>
  old.filter(({ until }) => Date.parse(until) > now).map(({ value }) => value)

const secretsAt = ({ secrets, old_secrets }: OpenEndpoint, now: number): readonly string[] =>
  old_secrets.length > 0 ? [...secrets, ...heldAt(old_secrets, now)] : secrets

const always = () => true
const nothing = { status: null, retryAfter: undefined }

/** How the relay names itself to receivers. */
export const userAgentOf = (version?: string): string => (version ? `folkmoot-relay/${version}` : 'folkmoot-relay')

/**
 * Sends webhooks by section 6 of the specification: POST, any 2xx acknowledges, no redirect is followed.
 * @param settings read again at each attempt
 */
export function createSender(settings: () => ConnectionSettings, clock: Clock, resolve: Resolve, userAgent: string): Sender {
  const connections = openConnections(settings, resolve)
  const running = new Set<AbortController>()
  const checkUrl = urlChecker()

  async function postWith(key: string, attempt: Attempt, signal: AbortSignal): Promise<Answer> {
    if (signal.aborted) return endedBy(signal.reason)
    const { endpoint, event_id, body, isAllowed = always } = attempt
    const url = checkUrl(endpoint.url, settings())
    if (!url.ok) return { ...nothing, result: 'blocked', reason: url.reason }
    const outside = refusedByList(url.origin, endpoint.allow_addresses)
    if (outside !== undefined) return { ...nothing, result: 'blocked', reason: outside }
    try {
      const headers = {
        // Before the relay's own: none of these is ever another.
        ...Object.fromEntries((endpoint.headers ?? []).map(({ name, value }) => [name, value])),
        'content-type': 'application/json',
        accept: 'application/json',
        authorization: `Bearer ${key}`,
        'user-agent': userAgent,
        ...signatureHeaders(secretsAt(endpoint, clock.now()), event_id, body, clock.now()),
      }
      const { origin, path } = url
      const request = { origin, path, headers, body, isAllowed, clock }
      const { answer, isLost } = await post(connections.to(endpoint, origin), request, signal)
      if (!isLost || signal.aborted) return answer
      // The receiver or a balancer has forgotten the connection. Should the event have arrived, its id tells the receiver.
      const again = await post(connections.renew(endpoint, origin), request, signal)
      return { ...again.answer, repeated: true }
    } catch (error) {
      return { ...nothing, ...classify(error) }
    }
  }

  /** A receiver that refuses the key may still have one that was replaced: those are tried at once, as long as they hold. */
  async function tryKeys(attempt: Attempt, signal: AbortSignal): Promise<Answer> {
    const { key, old_keys } = attempt.endpoint
    const first = await postWith(key, attempt, signal)
    if (!isKeyRefused(first)) return first
    for (const old of heldAt(old_keys, clock.now())) {
      const next = await postWith(old, attempt, signal)
      if (!isKeyRefused(next)) return next
    }
    return first
  }

  return {
    async send(attempt) {
      const started = clock.monotonic()
      // Each attempt has its own signal: every attempt would walk through the listeners of a shared one.
      const stopping = new AbortController()
      running.add(stopping)
      try {
        const policy = timeout(attempt.timeout, cooperative)
        const answer = await policy.execute(({ signal }) => tryKeys(attempt, signal), stopping.signal)
        return { ...answer, milliseconds: Math.round(clock.monotonic() - started) }
      } finally {
        running.delete(stopping)
      }
    },
    abort(reason) {
      for (const stopping of running) stopping.abort(new Stopped(reason))
    },
    forget: (endpoint) => connections.forget(endpoint),
    close: () => connections.close(),
  }
}
