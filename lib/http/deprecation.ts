/** The headers that mark an operation as deprecated, for the programs of callers. */
import type { Deprecation } from '../operation.ts'

const momentOf = (date: string): Date => new Date(`${date}T00:00:00Z`)

/** `Deprecation` of RFC 9745, which counts seconds, and `Sunset` of RFC 8594, which is a date of HTTP. */
export const deprecationHeaders = ({ since, sunset }: Deprecation): Record<string, string> => ({
  deprecation: `@${momentOf(since).getTime() / 1_000}`,
  ...(sunset ? { sunset: momentOf(sunset).toUTCString() } : {}),
})
