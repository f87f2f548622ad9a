import * as v from 'valibot'
import { isoTime } from '../base/clock.ts'
import { shown } from '../base/describe-value.ts'
import { type PayloadOf, payloadSchema, type WebhookName, webhookName } from '../events/catalogue.ts'
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
}

/** `community.publish`: puts one event into the outbox, durably. Its `event_id` is the one that receivers and the relay know. */
export type Publish = <Name extends WebhookName>(event: Publication<Name>) => Promise<{ readonly event_id: string }>

const Event = shape({ network: NetworkName, event: v.unknown(), payload: v.optional(v.unknown()) })

/** Binds `community.publish`. */
export function publishOf({ clock, chance, limits }: Settings, transactions: Transactions, networks: Networks): Publish {
  return async (given) => {
    const { network: named, event, payload } = checkArgument('publish', Event, given, limits)
    const name = typeof event === 'string' ? webhookName(event) : undefined
    if (!name) throw new TypeError(`publish: there is no event ${shown(event)}`)
    const network = await networks.show(named)
    const checked = parseInput(payloadSchema(name), payload, limits)
    const now = isoTime(clock.now())
    const event_id = newEventId(now, chance)
    await transactions.write(network.id, now, async (_tx, emit) => emit({ name, payload: checked, event_id }))
    return { event_id }
  }
}
