/** Times in options of commands. */
import { Option } from 'commander'
import { isDay, readMoment, utcText } from '../../../lib/base/date-time.ts'
import { UsageError } from '../../usage.ts'

export const moment = (option: string, about: string): Option =>
  new Option(`${option} <time>`, about).argParser((text) => momentOf(option, text))

/** A day, which begins in UTC, or a moment with an offset. @throws UsageError */
function momentOf(option: string, given: string): string {
  const moment = readMoment(/^\d{4}-\d\d-\d\d$/.test(given) ? `${given}T00:00:00Z` : given)
  const utc = moment?.offset && isDay(given.slice(0, 10)) ? utcText(Date.parse(`${moment.local}${moment.offset}`)) : undefined
  if (utc === undefined)
    throw new UsageError(
      `${option} must be a day or time that exists, like 2026-11-20 or 2026-11-20T10:00:00Z, got ${JSON.stringify(given.slice(0, 100))}`,
    )
  return utc
}
