/** The outcome of one attempt. */

import { Refused } from './guard.ts'
import { BeyondProxy, ProxyFailed } from './proxy.ts'
import { BadResponse } from './responses.ts'

/**
 * Why an attempt failed, for logs, metrics and people. Most names explain themselves. The others:
 *
 * - `status`: not 2xx. `protocol`: not HTTP.
 * - `blocked`: the relay's own rules forbid the address. `damaged`: the stored body differs from the ingested one. Nothing was sent.
 * - `proxy_failed`: the proxy did not make the connection. Nothing was sent, and nothing counts. `unreachable`: there is no way to the
 *   address, or the proxy makes connections for others and none to it.
 * - `aborted`: the relay is shutting down.
 * - `fault`: anything unforeseen. It counts against the endpoint, so that it is not repeated without end.
 */
export type FailureClass =
  | 'status'
  | 'redirect'
  | 'timeout'
  | 'dns'
  | 'refused'
  | 'reset'
  | 'unreachable'
  | 'tls'
  | 'protocol'
  | 'blocked'
  | 'damaged'
  | 'proxy_failed'
  | 'aborted'
  | 'fault'

export interface Outcome {
  /** `delivered` after a 2xx; otherwise the class of the failure, such as `timeout`. */
  readonly result: 'delivered' | FailureClass
  readonly status: number | null
  /** In words, without addresses' secrets: never a URL, a key or a body. */
  readonly reason: string
  /** Seconds, as the receiver requested. */
  readonly retryAfter: number | undefined
  readonly milliseconds: number
  /** Whether the request was repeated immediately, because a kept-alive connection broke without any response. */
  readonly repeated?: true
  /** The beginning of a response that was not 2xx, for the operator. Never logged: a stranger wrote it. */
  readonly responseBody?: string
  /** The headers of that response, one per line. */
  readonly responseHeaders?: string
}

const byCode: Readonly<Record<string, FailureClass>> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  ENOTFOUND: 'dns',
  ENODATA: 'dns',
  ESERVFAIL: 'dns',
  EREFUSED: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  ETIMEOUT: 'dns',
  EBADNAME: 'dns',
  ECANCELLED: 'dns',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EHOSTDOWN: 'unreachable',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'protocol',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'protocol',
  UND_ERR_RESPONSE: 'protocol',
  // The codes of undici's parser for an invalid response.
  ERR_ASSERTION: 'protocol',
  EPROTO: 'tls',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls',
  UNABLE_TO_GET_ISSUER_CERT: 'tls',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls',
  UNABLE_TO_DECRYPT_CERT_SIGNATURE: 'tls',
  UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY: 'tls',
  ERROR_IN_CERT_NOT_BEFORE_FIELD: 'tls',
  ERROR_IN_CERT_NOT_AFTER_FIELD: 'tls',
  INVALID_CA: 'tls',
  INVALID_PURPOSE: 'tls',
  PATH_LENGTH_EXCEEDED: 'tls',
  HOSTNAME_MISMATCH: 'tls',
  // A key or an event id that a header cannot hold.
  UND_ERR_INVALID_ARG: 'blocked',
}

/** The class of an error of undici, of the system or of the guard. Every error is classified, never thrown on. */
export function classify(error: unknown): { readonly result: FailureClass; readonly reason: string } {
  if (!(error instanceof Error)) return { result: 'fault', reason: 'something that is not an error was thrown' }
  // Several addresses were tried: the first failure speaks for them.
  if (error instanceof AggregateError && error.errors.length > 0) return classify(error.errors[0])
  if (error instanceof Refused) return { result: 'blocked', reason: error.message }
  if (error instanceof BeyondProxy) return { result: 'unreachable', reason: error.message }
  if (error instanceof ProxyFailed) return { result: 'proxy_failed', reason: error.message }
  if (error instanceof BadResponse) return { result: 'protocol', reason: error.message }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  // Undici has one code for a connection that ends and for a response that it cannot follow.
  if (code === 'UND_ERR_SOCKET' && /^bad (response|upgrade)$/.test(error.message))
    return { result: 'protocol', reason: error.message }
  // Node's code for every other fault of a certificate, such as a short key. Its message is a fixed text of OpenSSL.
  if (code === 'UNSPECIFIED') return { result: 'tls', reason: error.message }
  const known = byCode[code]
  if (known) return { result: known, reason: code }
  if (code.startsWith('HPE_') || error.name === 'HTTPParserError') return { result: 'protocol', reason: code || 'not HTTP' }
  if (code.startsWith('ERR_TLS') || code.startsWith('ERR_SSL') || code.startsWith('CERT_')) return { result: 'tls', reason: code }
  if (error.cause !== undefined) return classify(error.cause)
  return { result: 'fault', reason: code || error.name }
}

export const classifyStatus = (status: number): FailureClass => (status >= 300 && status < 400 ? 'redirect' : 'status')

export const unsent = (result: FailureClass, reason: string): Outcome => ({
  result,
  reason,
  status: null,
  retryAfter: undefined,
  milliseconds: 0,
})

/** Whether it says nothing about the endpoint: nothing of it arrived there. */
export const isNoVerdict = ({ result }: Outcome): boolean => ['blocked', 'damaged', 'proxy_failed', 'aborted'].includes(result)

/** Whether the endpoint is to blame, so that its circuit breaker and its attempts count it. */
export const isEndpointFailure = (outcome: Outcome): boolean => outcome.result !== 'delivered' && !isNoVerdict(outcome)

/** Statuses of the 4xx kind that say "later", not "no". */
const notYet = new Set([408, 425, 429])

/** The receiver is there and does not want this event: 4xx other than 408, 425 and 429. */
export const isRefusal = ({ result, status }: Outcome): boolean =>
  result !== 'delivered' && status !== null && status >= 400 && status < 500 && !notYet.has(status)

/** A time-out or a 429: such a receiver has too much to do already. */
export const isOverload = ({ result, status }: Outcome): boolean => result === 'timeout' || status === 429
