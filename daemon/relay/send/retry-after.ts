/** The oldest form of an HTTP date, without a zone: `Sun Nov  6 08:49:37 1994` (RFC 9110, section 5.6.7). */
const asctime = /^[A-Za-z]{3} [A-Za-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/

/**
 * The delay in a `Retry-After` header, in seconds (RFC 9110, section 10.2.3), or `undefined` if it is unusable.
 * @param value the header, or its first value
 * @param now milliseconds since 1970, for the form with a date
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text)
  // `Date.parse` takes far more than HTTP dates: a negative number would be a year.
  const isAsctime = asctime.test(text)
  if (!isAsctime && !/^[A-Za-z]{3,9}, /.test(text)) return undefined
  const date = Date.parse(isAsctime ? `${text} GMT` : text)
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1000)
}
