/** The options of commands for the conditions on deliveries. Help must not wait for the library of their schema. */
import { type Command, Option } from 'commander'
import type { DeliveryFilter } from '../../../../lib/relay/relay-admin.ts'

/** The value of each, and what it chooses. */
const flags: Readonly<Record<keyof DeliveryFilter, readonly [value: string, about: string]>> = {
  state: ['state', 'only pending, delivered, dead or skipped ones'],
  endpoint_id: ['id', 'only this endpoint'],
  network_id: ['id', 'only this network'],
  event_id: ['id', 'only this event'],
  event_type: ['type', 'only events of this type'],
  subject: ['type:id', 'only events of this subject, such as member:1001'],
  outcome: ['outcome', 'only those whose latest attempt ended so'],
  http_status: ['status', 'only those whose latest response has this status'],
  min_milliseconds: ['milliseconds', 'only those whose latest attempt took at least this long'],
  last_attempt_since: ['time', 'only those whose latest attempt was at or after this time'],
  since: ['time', 'only events ingested at or after this time'],
  until: ['time', 'only events ingested before this time'],
}

/** Adds an option for each condition, but some: `endpoint_id` is `--endpoint-id`. */
export function withConditions(made: Command, limit: string, except: readonly (keyof DeliveryFilter)[] = []): Command {
  for (const [name, [value, about]] of Object.entries(flags)) {
    if (except.some((each) => each === name)) continue
    const option = new Option(`--${name.replaceAll('_', '-')} <${value}>`, about)
    made.addOption(name === 'network_id' ? option.env('FOLKMOOT_NETWORK') : option)
  }
  return made.option('--limit <count>', limit)
}
