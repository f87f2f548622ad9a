/** One attempt: a webhook is posted within one time-out; a receiver that still has a replaced key gets that one. */
import { TimeoutStrategy, timeout } from 'cockatiel'
import { chatOf } from '../../../lib/outbox/chat.ts'
import { changedHeader } from '../../../lib/outbox/headers.ts'
import type { ReplacedSecret } from '../../../lib/outbox/record.ts'
import type { AttemptTimeout } from '../attempt-timeout.ts'
import type { Clock } from '../clock.ts'
import { chatBody, delayIn } from './chat.ts'
import { type ConnectionSettings, openConnections, wayTo } from './connections.ts'
import type { OpenEndpoint } from './credentials.ts'
import { beyondLimits, type Resolve, urlChecker } from './guard.ts'
import { type Hide, hiderOf } from './hidden-values.ts'
import { endedBy, type PostOutcome, type PostResult, post, Stopped } from './http-post.ts'
import { classify, type Outcome } from './outcome.ts'
import { proxyFor } from './proxy.ts'
import { createProxyGate, type ProxyGate, type ProxyNews } from './proxy-gate.ts'
import { signatureHeaders } from './signature.ts'
import { noTlsFiles, type TlsFiles } from './tls-files.ts'

export interface Attempt {
  readonly endpoint: OpenEndpoint
  readonly event_id: string
  readonly body: Uint8Array
  /** Milliseconds for all of it: name, connection, TLS, requests and responses. */
  readonly timeout: AttemptTimeout
  /** Called once there is a connection, which may take long: whether it may still be sent. Default: it may. */
  readonly isAllowed?: () => boolean
  /** The trace that the receiver continues, as `traceparent`. */
  readonly trace?: string | null
  /** The names of the fields that the event has changed, between commas. */
  readonly changed?: string | null
}

export interface Sender {
  /** Makes one attempt. Never rejects: whatever happens is an outcome. */
  send(attempt: Attempt): Promise<Outcome>
  /** Ends every running attempt; their outcome is `aborted`, with this reason. */
  abort(reason: string): void
  forget(endpoint: number): void
  /** Whether no attempt at a URL may be made now, because its proxy cannot be reached. */
  isHeld(url: string): boolean
  readonly proxy: Pick<ProxyGate, 'isDown'>
  /** The settings or the files of certificates are others: no request goes out on a connection from before. */
  reload(): void
  close(): Promise<void>
}

/**
 * The attempt ends by itself when its signal is aborted. By default cockatiel also aborts the signal after an attempt, which
 * makes an error with a stack for each delivery. That costs seven times as much as the rest of the policy.
 */
const cooperative = { strategy: TimeoutStrategy.Cooperative, abortOnReturn: false } as const

const isKeyRefused = ({ status }: PostOutcome): boolean => status === 401 || status === 403

/** The replaced tokens or secrets that hold at this time. */
const heldAt = (old: readonly ReplacedSecret[], now: number): readonly string[] =>
  old.filter(({ until }) => Date.parse(until) > now).map(({ value }) => value)

const secretsAt = ({ secrets, old_secrets }: OpenEndpoint, now: number): readonly string[] =>
  old_secrets.length > 0 ? [...secrets, ...heldAt(old_secrets, now)] : secrets

/** Discord says in the body of a 429 too when it takes more. */
const delayOf = ({ format }: OpenEndpoint, { status, retryAfter, responseBody }: PostOutcome): number | undefined =>
  status === 429 && chatOf(format) !== null ? (retryAfter ?? delayIn(responseBody)) : retryAfter

const always = () => true
const nothing = { status: null, retryAfter: undefined }

const byProxy = (reason: string): PostOutcome => ({ ...nothing, result: 'proxy_failed', reason })

export interface SenderOptions {
  /** Called when the proxy fails, with each look that finds it failing on, and when it works again. */
  readonly onProxyNews?: (news: ProxyNews) => void
  /** Read again at each new connection. */
  readonly tlsFiles?: () => TlsFiles
}

/** Why an address in a URL may not be sent to. Most endpoints have no limits. */
function limitsProblem(endpoint: OpenEndpoint, origin: string, settings: ConnectionSettings): string | undefined {
  if (endpoint.allow_addresses === null && settings.sourceAddress === undefined) return undefined
  return beyondLimits(origin, wayTo(endpoint, origin, settings).limits)
}

export const userAgentOf = (version?: string): string => (version ? `folkmoot-relay/${version}` : 'folkmoot-relay')

/**
 * Sends webhooks (interface.md, 11): POST, any 2xx acknowledges, no redirect is followed.
 * @param settings read again at each attempt
 */
export function createSender(
  settings: () => ConnectionSettings,
  clock: Clock,
  resolve: Resolve,
  userAgent: string,
  { onProxyNews = () => undefined, tlsFiles = () => noTlsFiles }: SenderOptions = {},
): Sender {
  const proxy = createProxyGate(clock, () => connections.proxyFailure(), onProxyNews)
  const connections = openConnections(settings, resolve, proxy, tlsFiles)
  const running = new Set<AbortController>()
  const checkUrl = urlChecker()

  const goesByProxy = (url: string): boolean => proxyFor(url, settings()) !== undefined

  /** The response to a request, or the failure of the proxy that it comes from. Most need no look at the proxy, and are not awaited. */
  function blamed(
    { outcome, hadConnection }: PostResult,
    { ref }: OpenEndpoint,
    origin: string,
  ): PostOutcome | Promise<PostOutcome> {
    if (outcome.result === 'reset') return blamedForReset(outcome, origin)
    const isConnecting = outcome.result === 'timeout' && !hadConnection && connections.isConnectingToProxy(ref)
    return isConnecting && !proxy.isToBlame(ref) ? byProxy('the proxy gave no response in time') : outcome
  }

  async function blamedForReset(outcome: PostOutcome, origin: string): Promise<PostOutcome> {
    if (!goesByProxy(origin)) return outcome
    const failure = await connections.proxyFailure()
    if (failure === undefined) return outcome
    proxy.unreachable(failure)
    return byProxy(failure)
  }

  async function postWith(key: string, attempt: Attempt, signal: AbortSignal): Promise<PostOutcome> {
    if (signal.aborted) return endedBy(signal.reason)
    const { endpoint, event_id, isAllowed = always, trace, changed } = attempt
    const chat = chatOf(endpoint.format)
    const url = checkUrl(endpoint.url, settings())
    if (!url.ok) return { ...nothing, result: 'blocked', reason: url.reason }
    const beyond = limitsProblem(endpoint, url.origin, settings())
    if (beyond !== undefined) return { ...nothing, result: 'blocked', reason: beyond }
    try {
      const body = chat === null ? attempt.body : chatBody(chat, attempt.body)
      const signature = signatureHeaders(secretsAt(endpoint, clock.now()), event_id, body, clock.now())
      const headers = {
        // Before the relay's own: none of these is ever another.
        ...Object.fromEntries((endpoint.headers ?? []).map(({ name, value }) => [name, value])),
        'content-type': 'application/json',
        accept: 'application/json',
        ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
        'user-agent': userAgent,
        ...(changed == null || chat !== null ? {} : { [changedHeader]: changed }),
        ...(trace == null ? {} : { traceparent: trace }),
        ...signature,
      }
      const { origin, path } = url
      const hide: Hide = (text, limit) => hiderOf(endpoint, signature['webhook-signature'])(text, limit)
      const request = { origin, path, headers, body, hide, isAllowed, clock }
      const posted = await post(connections.to(endpoint, origin), request, signal)
      if (!posted.isLost || signal.aborted) return blamed(posted, endpoint, origin)
      // The receiver or a balancer has forgotten the connection. Should the event have arrived, the receiver recognizes it by its id.
      const again = await post(connections.renew(endpoint, origin), request, signal)
      return { ...(await blamed(again, endpoint, origin)), repeated: true }
    } catch (error) {
      return { ...nothing, ...classify(error) }
    }
  }

  /** A receiver that refuses the key may still have one that was replaced: those are tried right after it, as long as they hold. */
  async function tryKeys(attempt: Attempt, signal: AbortSignal): Promise<PostOutcome> {
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
        const outcome = await policy.execute(({ signal }) => tryKeys(attempt, signal), stopping.signal)
        return {
          ...outcome,
          retryAfter: delayOf(attempt.endpoint, outcome),
          milliseconds: Math.round(clock.monotonic() - started),
        }
      } finally {
        running.delete(stopping)
      }
    },
    abort(reason) {
      for (const stopping of running) stopping.abort(new Stopped(reason))
    },
    forget(endpoint) {
      proxy.forget(endpoint)
      connections.forget(endpoint)
    },
    isHeld: (url) => proxy.isClosed && goesByProxy(url),
    proxy,
    reload() {
      proxy.reset()
      connections.renewAll()
    },
    close() {
      proxy.close()
      return connections.close()
    },
  }
}
