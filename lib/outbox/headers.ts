/** Headers that are added to every delivery of an endpoint: which there may be. */

/** A header of every delivery. Its value is a secret: only its name is shown. */
export interface Header {
  /** Any case, as HTTP does not distinguish it: `x-team`. */
  readonly name: string
  /** A secret, as with a key: it is encrypted in the outbox if there are encryption keys. */
  readonly value: string
}

/** The header with the names of the fields that an event has changed, between commas. */
export const changedHeader = 'folkmoot-changed'

/** The most headers of an endpoint, and the most characters of their names and values together. */
export const mostHeaders = 20
export const mostHeaderLength = 4096

/** A name as RFC 9110, section 5.6.2, has it. */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/
/** The headers that the relay sets, or that are about the connection (RFC 9110, section 7.6.1). */
const reserved = new RegExp(
  `^(?:${[
    ...['host', 'accept', 'user-agent', 'traceparent', 'tracestate', 'expect', 'connection', 'keep-alive'],
    ...[
      'te',
      'trailers?',
      'transfer-encoding',
      'upgrade',
      'http2-settings',
      'content-.*',
      'webhook-.*',
      'folkmoot-.*',
      'proxy-.*',
    ],
  ].join('|')})$`,
  'i',
)

/** Whether one of these is the header that else carries the key. Only an endpoint without a key may have it. */
export const hasAuthorization = (headers: readonly Pick<Header, 'name'>[]): boolean =>
  headers.some(({ name }) => name.toLowerCase() === 'authorization')

/** The rule that a name breaks, as the end of a sentence that begins with it. */
export function nameProblem(name: string): string | undefined {
  if (!token.test(name)) return 'is not a name of a header: letters, digits and hyphens, at most 100'
  return reserved.test(name) ? 'is set by the relay itself, or is about the connection: choose another name' : undefined
}

/** Whether these are names of headers that may be added, each of them once. */
export const areHeaderNames = (names: readonly string[]): boolean =>
  names.every((name) => nameProblem(name) === undefined) && new Set(names.map((name) => name.toLowerCase())).size === names.length
