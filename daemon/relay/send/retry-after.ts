/**
 * The delay in a `Retry-After` header, in seconds (RFC 9110, section 10.2.3), or `undefined` if it is unusable.
 * @param value the header, or its first value
 * @param now milliseconds since 1970, for the form with a date
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? ''
  if (/^\d{1,12}(\.\d{1,6})?$/.test(text)) return Number(text)
  // `Date.parse` takes far more than HTTP dates: a negative number would be a year.
  if (!/^[A-Za-z]{3,9}, /.test(text)) return undefined
  const date = Date.parse(text)
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1000)
}
