import { type ApiError, accessError, badRequest, fail } from '../errors.ts'
import type { Settings } from '../options.ts'
import type { Incoming } from './exchange.ts'

const first = (list: string | null): string | undefined => list?.split(',', 1)[0]?.trim().toLowerCase()

const isSecure = (incoming: Incoming, { trustProxy }: Pick<Settings, 'trustProxy'>): boolean => {
  const forwarded = trustProxy ? first(incoming.header('x-forwarded-proto')) : undefined
  return forwarded ? forwarded === 'https' : incoming.secure
}

/**
 * Refuses plain HTTP before anything else is looked at (specification, section 5, rule 6).
 * @throws ApiError 403 `https_required`
 */
export function requireHttps(incoming: Incoming, settings: Pick<Settings, 'trustProxy' | 'allowHttp'>): void {
  if (settings.allowHttp || isSecure(incoming, settings)) return
  throw httpsRequired()
}

export const httpsRequired = (): ApiError =>
  accessError(403, 'https_required', 'Only HTTPS is accepted. Call the same address with https.')

/**
 * Refuses a second `Host` header: a proxy may have gone by the one, and links would be made of the other (RFC 9112, 3.2).
 * @throws ApiError 400
 */
export function requireOneHost(incoming: Incoming): void {
  if (incoming.header('host')?.includes(',')) fail(badRequest('A request must have one Host header, got several'))
}

// A host name or address with an optional port, and nothing that could carry a path or markup into a link.
const hostPattern = /^(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/

/** What links begin with where nobody has called: in direct calls, and in what the host tells. */
export const ownOrigin = ({ publicUrl }: Pick<Settings, 'publicUrl'>): string => publicUrl ?? 'https://localhost'

/** The origin that the caller used, for links (design: settled gaps, list envelope). */
export function originOf(incoming: Incoming, settings: Pick<Settings, 'trustProxy' | 'publicUrl'>): string {
  if (settings.publicUrl) return settings.publicUrl
  const forwarded = settings.trustProxy ? first(incoming.header('x-forwarded-host')) : undefined
  const host = forwarded ?? incoming.header('host')?.toLowerCase() ?? ''
  return `${isSecure(incoming, settings) ? 'https' : 'http'}://${hostPattern.test(host) ? host : 'localhost'}`
}
