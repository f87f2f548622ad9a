/**
 * The conditions on deliveries, declared once: the flags of commands, the parameters of the control port and the type of a
 * filter follow. A new condition is a line here, its field in `DeliveryFilter`, and its clause in the store's search.
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

/** @param flag its value in a command line  @param about the condition, for the help */
const condition = <S extends v.GenericSchema<unknown, unknown>>(schema: S, flag: string, about: string) =>
  v.exactOptional(v.pipe(schema, v.metadata({ flag, about })))

export const deliveryFilter = v.object({
  state: condition(
    v.picklist(['pending', 'delivered', 'dead', 'skipped'], stateSays),
    'state',
    'only pending, delivered, dead or skipped ones',
  ),
  endpoint_id: condition(idOf('an endpoint'), 'id', 'only this endpoint'),
  network_id: condition(idOf('a network (the relay has no subdomains)'), 'id', 'only this network'),
  event_id: condition(matching(/^[\x20-\x7e]{1,200}$/, 'takes the id of an event'), 'id', 'only this event'),
  event_type: condition(
    v.pipe(
      matching(/^\w{1,100}$/, typeSays),
      v.transform((type) => (type.endsWith('Hook') ? type : `${type}Hook`)),
    ),
    'type',
    'only events of this type',
  ),
  outcome: condition(
    matching(/^\w{1,40}$/, 'takes an outcome such as timeout'),
    'outcome',
    'only those whose latest attempt ended so',
  ),
  http_status: condition(whole(100, 599), 'status', 'only those whose latest response has this status'),
  min_milliseconds: condition(whole(0, 3_600_000), 'milliseconds', 'only those whose latest attempt took at least this long'),
  since: condition(moment, 'time', 'only events ingested at or after this time'),
  until: condition(moment, 'time', 'only events ingested before this time'),
}) satisfies v.GenericSchema<unknown, DeliveryFilter>
