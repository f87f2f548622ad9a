/** The options of `folkmoot listen`, read and checked. */
import { withoutPassword } from '../../../lib/base/without-password.ts'
import { UsageError } from '../../usage.ts'
import { eventNamed } from '../commands/event-name.ts'
import type { NetworkFlags } from '../commands/operator.ts'

export interface ListenFlags extends NetworkFlags {
  readonly forwardTo?: string
  readonly events?: readonly string[]
  readonly headers?: readonly string[]
  readonly skipVerify?: boolean
  readonly printJson?: boolean
  readonly output: 'compact' | 'full'
  readonly port: number
  readonly token?: string
  readonly tokenFile?: string
  readonly secret?: string
  readonly secretFile?: string
}

/**
 * The address to forward to; without a scheme it is http.
 * @throws UsageError
 */
export function forwardUrl(given: string | undefined): URL | undefined {
  if (given === undefined) return undefined
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`
  const url = URL.parse(text)
  if (url && ['http:', 'https:'].includes(url.protocol) && url.username + url.password === '') return url
  throw new UsageError(
    `--forward-to must be like http://localhost:3000/webhooks, got ${JSON.stringify(withoutPassword(given).slice(0, 200))}`,
  )
}

/**
 * The event types of `--events`, separated by commas; null for every one.
 * @throws UsageError with the nearest names
 */
export function eventTypes(given: readonly string[] = []): readonly string[] | null {
  const names = given.flatMap((text) => text.split(',')).filter((name) => name.trim() !== '')
  return names.length === 0 ? null : [...new Set(names.map((name) => `${eventNamed(name.trim())}Hook`))]
}

/** Headers of the connection; a forwarded request has its own. */
const ofConnection = [
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'upgrade',
  'expect',
  'te',
  'trailer',
]

export const isOfConnection = (name: string): boolean => ofConnection.includes(name.toLowerCase())

/**
 * The additional headers of a forwarded request, by their names in lower case.
 * @throws UsageError
 */
export function extraHeaders(given: readonly string[] = []): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((text) => {
      const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e]*)$/.exec(text) ?? []
      if (name === undefined || value === undefined || isOfConnection(name))
        throw new UsageError(
          `--headers must be like 'x-tenant: 7', and not a header of the connection, got ${JSON.stringify(text.slice(0, 100))}`,
        )
      return [name.toLowerCase(), value.trim()]
    }),
  )
}
