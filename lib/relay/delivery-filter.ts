/**
 * The conditions on deliveries, declared once: the flags of commands, the parameters of the control port and the type of a
 * filter follow. A new condition is a field of `DeliveryFilter` and a line here; the compiler then names its flag, its label in the panel,
 * and its clause in the store's search.
 */
import * as v from 'valibot'
import { isDay } from '../base/date-time.ts'
import type { DeliveryFilter } from './relay-admin.ts'

const matching = (pattern: RegExp, says: string) => v.pipe(v.string(says), v.regex(pattern, says))

/** An id of digits; a number counts as its digits. */
const idOf = (what: string) => {
  const says = `takes the id of ${what}`
  return v.pipe(
    v.union([v.string(), v.pipe(v.number(), v.safeInteger(), v.transform(String))], says),
    v.regex(/^\d{1,20}$/, `${says}: digits`),
  )
}

/** A whole number, also as text. */
export const whole = (least: number, most: number) => {
  const says = `takes a whole number from ${least} to ${most}`
  const given = v.union([v.number(), v.pipe(v.string(), v.regex(/^\d{1,9}$/), v.transform(Number))], says)
  return v.pipe(given, v.integer(says), v.minValue(least, says), v.maxValue(most, says))
}

const momentSays = 'takes a date and time that exists (2026-11-20T10:00:00Z)'
/** A day, or a time of a day. */
const moment = v.pipe(
  matching(/^\d{4}-\d\d-\d\d(?:[T ].{0,29})?$/, momentSays),
  v.check((text) => isDay(text.slice(0, 10)) && !Number.isNaN(Date.parse(text)), momentSays),
)
const stateSays = 'is one of pending, delivered, dead, skipped'
const typeSays = 'takes an event type such as PostCreated'

export const deliveryFilter = v.object({
  state: v.exactOptional(v.picklist(['pending', 'delivered', 'dead', 'skipped'], stateSays)),
  endpoint_id: v.exactOptional(idOf('an endpoint')),
  network_id: v.exactOptional(idOf('a network (the relay has no subdomains)')),
  event_id: v.exactOptional(matching(/^[\x20-\x7e]{1,200}$/, 'takes the id of an event')),
  event_type: v.exactOptional(
    v.pipe(
      matching(/^\w{1,100}$/, typeSays),
      v.transform((type) => (type.endsWith('Hook') ? type : `${type}Hook`)),
    ),
  ),
  subject: v.exactOptional(matching(/^[\x20-\x7e]{1,200}$/, 'takes the subject of events, such as member:1001')),
  outcome: v.exactOptional(matching(/^\w{1,40}$/, 'takes an outcome such as timeout')),
  http_status: v.exactOptional(whole(100, 599)),
  min_milliseconds: v.exactOptional(whole(0, 3_600_000)),
  last_attempt_since: v.exactOptional(moment),
  since: v.exactOptional(moment),
  until: v.exactOptional(moment),
}) satisfies v.GenericSchema<unknown, DeliveryFilter>
