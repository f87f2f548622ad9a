import { type ApiError, accessError, badRequest, fail } from '../../errors.ts'
import { below, type PublicAddress } from '../../kernel/wire.ts'
import type { Settings } from '../../settings.ts'
import type { Incoming } from '../exchange.ts'
import { isHost } from '../host.ts'

/**
 * The value from the trusted proxy. Each proxy of a chain appends a value. With a number of proxies, the value set by the
 * outermost of them counts; everything before it comes from the client.
 */
function forwarded(incoming: Incoming, name: string, trustProxy: boolean | number): string | undefined {
  if (trustProxy === false) return undefined
  const values = incoming.header(name)?.split(',') ?? []
  const value = trustProxy === true ? values[0] : (values.at(-trustProxy) ?? values[0])
  return value?.trim() || undefined
}

/** Whether a request came by TLS, to this server or to a trusted proxy. */
export const isSecure = (incoming: Incoming, { trustProxy }: Pick<Settings, 'trustProxy'>): boolean => {
  const protocol = forwarded(incoming, 'x-forwarded-proto', trustProxy)
  return protocol ? protocol.toLowerCase() === 'https' : incoming.secure
}

/**
 * Refuses plain HTTP before any other check (interface.md, 1.4).
 * @param refused called before the refusal
 * @throws ApiError 403 `https_required`
 */
export function requireHttps(
  incoming: Incoming,
  settings: Pick<Settings, 'trustProxy' | 'allowHttp'>,
  refused?: () => void,
): void {
  if (settings.allowHttp || isSecure(incoming, settings)) return
  refused?.()
  throw httpsRequired()
}

export const httpsRequired = (): ApiError =>
  accessError(403, 'https_required', 'Only HTTPS is accepted. Call the same address with https.')

/** What a developer can do about a request that came by plain HTTP. */
export function httpsHint(incoming: Incoming, { trustProxy }: Pick<Settings, 'trustProxy'>): string {
  const refused = 'folkmoot: a request over plain HTTP was refused.'
  const development = 'For development, give createCommunity `allowHttp: true`'
  if (trustProxy === false) return `${refused} ${development}; behind a proxy that terminates TLS, \`trustProxy: true\``
  const header = incoming.header('x-forwarded-proto')
  const cause =
    header === null
      ? 'It has no header X-Forwarded-Proto: let the proxy set it to `https`, or the client did not go through the proxy.'
      : `Its header X-Forwarded-Proto is ${JSON.stringify(header.slice(0, 100))}: the client used http, or a proxy behind the one that terminates TLS has replaced the header. Let the first proxy redirect to https, and the others pass the header on.`
  return `${refused} ${cause} ${development}`
}

/**
 * Refuses a second `Host` header: a proxy may have gone by the one, and links would be made of the other. One that links cannot be made
 * of is refused too (RFC 9112, 3.2).
 * @throws ApiError 400
 */
export function requireHost(incoming: Incoming, { publicUrl, trustProxy }: Pick<Settings, 'publicUrl' | 'trustProxy'>): void {
  const host = incoming.header('host')
  if (host?.includes(',')) fail(badRequest('A request must have one Host header, got several'))
  if (publicUrl) return
  const behindProxy = forwarded(incoming, 'x-forwarded-host', trustProxy)
  const used = behindProxy ?? host
  if (used && !isHost(used))
    fail(badRequest(`${behindProxy ? 'X-Forwarded-Host' : 'Host'} must be a host name or an address, and a port if it has one`))
}

// A path of plain segments, for the same reason.
const prefixPattern = /^(?:\/[\w.~-]{1,100}){1,10}$/

/**
 * The public address of a path, for links (docs/gaps.md, list envelope). `publicUrl` with a path, or
 * `X-Forwarded-Prefix` of a trusted proxy, replaces the base path.
 */
export function publicAddress(
  incoming: Incoming,
  settings: Pick<Settings, 'trustProxy' | 'publicUrl' | 'basePath'>,
): PublicAddress {
  const { publicUrl, basePath, trustProxy } = settings
  if (publicUrl) return below(publicUrl, basePath, incoming.path)
  const host = (forwarded(incoming, 'x-forwarded-host', trustProxy) ?? incoming.header('host') ?? '')
    .toLowerCase()
    .replace(/:$/, '')
  const prefix = forwarded(incoming, 'x-forwarded-prefix', trustProxy)?.replace(/\/$/, '') ?? ''
  const origin = `${isSecure(incoming, settings) ? 'https' : 'http'}://${isHost(host) ? host : 'localhost'}`
  return below(prefixPattern.test(prefix) ? origin + prefix : origin, basePath, incoming.path)
}
