import * as v from 'valibot'
import { isoTime } from '../base/clock.ts'
import { shown } from '../base/describe-value.ts'
import { suggestion } from '../base/suggest.ts'
import { fail, invalid } from '../errors.ts'
import { fieldsOfUpdate, type PayloadOf, payloadSchema, type WebhookName, webhookName } from '../events/catalogue.ts'
import { newEventId } from '../events/envelope.ts'
import { parseInput } from '../kernel/check.ts'
import type { Transactions } from '../kernel/transactions.ts'
import type { Settings } from '../settings.ts'
import type { Id } from '../storage/table.ts'
import { checkArgument, NetworkName, shape } from './arguments.ts'
import type { Networks } from './networks.ts'

/** An event to be published. */
export interface Publication<Name extends WebhookName> {
  /** The network, by id or subdomain. */
  readonly network: Id | number
  /** The event's name, with or without `Hook`. */
  readonly event: Name | `${Name}Hook`
  /** The record that the event's webhook carries (interface.md, 10.3). */
  readonly payload: PayloadOf<Name>
  /** Of the event of an update: the names of the public fields that have changed. Endpoints may filter by them. */
  readonly changed?: readonly string[]
}

/** `community.publish`: puts one event into the outbox, durably. Its `event_id` is the one that receivers and the relay know. */
export type Publish = <Name extends WebhookName>(event: Publication<Name>) => Promise<{ readonly event_id: string }>

const Event = shape({
  network: NetworkName,
  event: v.unknown(),
  payload: v.optional(v.unknown()),
  changed: v.optional(v.array(v.string('must be a text'), 'must be a list'), []),
})

/**
 * The fields of the event that are named as changed, each once.
 * @throws ApiError 422
 */
function changedOf(name: WebhookName, given: readonly string[]): readonly string[] {
  const fields = fieldsOfUpdate(name)
  const unknown = given.find((each) => !fields.includes(each))
  if (unknown === undefined) return fields.filter((each) => given.includes(each))
  const remedy = fields.length > 0 ? suggestion(unknown, fields) : `${name}Hook names no changed fields`
  return fail(invalid('changed'), `changed must not have ${JSON.stringify(unknown.slice(0, 100))}: ${remedy}`)
}

export function publishOf({ clock, chance, limits }: Settings, transactions: Transactions, networks: Networks): Publish {
  return async (given) => {
    const { network: named, event, payload, changed: fields } = checkArgument('publish', Event, given, limits)
    const name = typeof event === 'string' ? webhookName(event) : undefined
    if (!name) throw new TypeError(`publish: there is no event ${shown(event)}`)
    const network = await networks.show(named)
    const checked = parseInput(payloadSchema(name), payload, limits)
    const changed = changedOf(name, fields)
    const now = isoTime(clock.now())
    const event_id = newEventId(now, chance)
    await transactions.write(network.id, now, async (_tx, emit) => emit({ name, payload: checked, changed, event_id }))
    return { event_id }
  }
}
