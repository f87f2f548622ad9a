/** Dates, times and time zones in requests. */
import * as v from 'valibot'
import { isDay, readMoment, utcText } from '../base/date-time.ts'
import { publish } from './published.ts'

/** A date as `2026-11-20`; the 30th of February is refused. */
export const DateInput = publish(
  v.pipe(v.string('must be a date like 2026-11-20'), v.check(isDay, 'must be a date like 2026-11-20')),
  { type: 'string', format: 'date' },
)

/** A time zone of the IANA database by its name, such as `Europe/Berlin`. */
export const TimeZone = publish(
  v.pipe(
    v.string('must be an IANA time zone like Europe/Berlin'),
    v.check(isTimeZone, 'must be an IANA time zone like Europe/Berlin'),
  ),
  { type: 'string', example: 'Europe/Berlin' },
)

/** Time zones that Intl has taken, in lower case. They are names of its database, so the set has an end. */
const timeZones = new Set<string>()

// Intl takes offsets like +01:00 too; those have no rules for summer time. It takes names in any case. To make a formatter is slow.
function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][\w+/-]{0,63}$/.test(text)) return false
  const name = text.toLowerCase()
  if (timeZones.has(name)) return true
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
  } catch {
    return false
  }
  timeZones.add(name)
  return true
}

const timestampText = v.pipe(
  v.string('must be a date and time in ISO 8601'),
  v.maxLength(40, 'must be a date and time in ISO 8601'),
)

/** Reads a moment; one without an offset becomes what `without` makes of it, or a problem when that is nothing. */
const readTimestamp = (without: (local: string) => string | undefined) =>
  v.rawTransform<string, string>(({ dataset, addIssue, NEVER }) => {
    const refuse = (message: string) => {
      addIssue({ message })
      return NEVER
    }
    const moment = readMoment(dataset.value)
    if (!moment) return refuse('must be a date and time in ISO 8601')
    const { local, offset } = moment
    const utc = isDay(local.slice(0, 10)) ? utcText(Date.parse(`${local}${offset ?? 'Z'}`)) : undefined
    if (!utc) return refuse('must be a date and time that exists')
    return offset
      ? utc
      : (without(local) ?? refuse('must have an offset, such as 2026-11-20T10:00:00Z or 2026-11-20T10:00:00+01:00'))
  })

/** A date and time in ISO 8601 with `Z` or an offset, converted to UTC with milliseconds. */
export const TimestampInput = publish(
  v.pipe(
    timestampText,
    readTimestamp(() => undefined),
  ),
  { type: 'string', format: 'date-time' },
)

/** The same, or without an offset: then it is left as it is, `2026-11-20T10:00:00.000`, for `inZone` to read in a time zone. */
export const ZonedTimestampInput = publish(
  v.pipe(
    timestampText,
    readTimestamp((local) => local),
  ),
  {
    type: 'string',
    format: 'date-time',
    description: 'Without an offset it is a time of `time_zone`.',
  },
)
