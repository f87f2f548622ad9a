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
    v.check((text) => zoneNamed(text) !== undefined, 'must be an IANA time zone like Europe/Berlin'),
    v.transform((text) => zoneNamed(text) ?? text),
  ),
  { type: 'string', example: 'Europe/Berlin' },
)

/** What Intl makes of the names of time zones, by these in lower case. They are names of its database, so the map has an end. */
const timeZones = new Map<string, string>()

/** `Asia/Kolkata`, `America/Port_of_Spain`, `US/Eastern`, `Etc/GMT`, `Zulu`, but not `asia/kolkata` or `ASIA/KOLKATA`. */
const usualCase =
  /^(?:(?:[A-Z][a-z]+|US)(?:\/(?:[A-Z][a-z]+|[A-Z]{3})(?:[_-](?:[A-Z][a-z]+|of|au|es))*){1,2}|[A-Z][a-z]{3,}|[A-Z]{2,3})$/

/**
 * The name of a time zone as Java and others read it, who know one case only: as given, or as Intl has it. Some engines have another
 * name for it, `Asia/Calcutta` for `asia/kolkata`.
 * @returns `undefined` for what is no time zone
 */
function zoneNamed(text: string): string | undefined {
  // Intl takes offsets like +01:00 too; those have no rules for summer time. It takes names in any case.
  if (!/^[A-Za-z][\w+/-]{0,63}$/.test(text)) return undefined
  const name = text.toLowerCase()
  const known = timeZones.get(name) ?? resolvedZone(text)
  if (known === undefined) return undefined
  timeZones.set(name, known)
  return usualCase.test(text) && known.toLowerCase() !== name ? text : known
}

// To make a formatter is slow.
function resolvedZone(timeZone: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
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
  // No `date-time`: that has an offset.
  {
    type: 'string',
    pattern: '^\\d{4}-\\d{2}-\\d{2}[Tt ]\\d{2}:\\d{2}',
    example: '2026-11-20T10:00:00.000Z',
    description: 'Without an offset it is a time of `time_zone`.',
  },
)
