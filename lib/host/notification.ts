/** How the host's own calls are made: checked like a request, run in one transaction with their events, answered with a record. */
import type * as v from 'valibot'
import { isoTime } from '../base/clock.ts'
import type { Principal } from '../context.ts'
import { fail, notFound } from '../errors.ts'
import type { EventName } from '../events/catalogue.ts'
import type { Emission } from '../events/envelope.ts'
import type { Fields } from '../fields.ts'
import { makeContext } from '../kernel/context.ts'
import type { Runner } from '../kernel/run.ts'
import { ownOrigin } from '../kernel/wire.ts'
import type { Emitter } from '../operation.ts'
import { projection } from '../records/projection.ts'
import type { Settings } from '../settings.ts'
import type { Id } from '../storage/table.ts'
import { members } from '../storage/tables.ts'
import { checkArgument, NetworkName, shape } from './arguments.ts'
import type { Networks } from './networks.ts'

type Shape<F extends Fields> = v.ObjectSchema<F, (issue: v.ObjectIssue) => string>

/** What a notification takes: the network, by id or subdomain, and its own fields. */
export type NotificationInput<F extends Fields> = { readonly network: Id | number } & Readonly<v.InferInput<Shape<F>>>

/** One of the host's calls. */
export type HostNotification<F extends Fields, R extends v.GenericSchema> = (
  given: NotificationInput<F>,
) => Promise<v.InferOutput<R>>

/** The same call, with the fields of what it takes and gives written out: what editors show of it can be read. */
export type Plainly<Call> = Call extends (given: infer T) => Promise<infer R> ? (given: Plain<T>) => Promise<Plain<R>> : never
type Plain<T> = { [K in keyof T]: T[K] } & {}

/**
 * Makes a call of the host.
 * @param fields what it takes beside the network
 * @param returns the record that it answers with
 * @param work runs in one transaction; the network's first host counts as the one who acts
 */
export type MakeNotification = <F extends Fields, R extends v.GenericSchema>(
  fields: F,
  returns: R,
  work: (call: Emitter<EventName>, given: v.InferOutput<Shape<F>>) => Promise<v.InferInput<R>>,
) => HostNotification<F, R>

/**
 * Binds the host's calls to a community.
 * @param call the name of the call in messages
 */
export function notificationsOf(settings: Settings, runner: Runner, networks: Networks, call: string): MakeNotification {
  const { clock, limits, ids } = settings
  return (fields, returns, work) => {
    const schema = shape({ network: NetworkName, ...fields })
    return async (given) => {
      // The network is no column of the rows that the notification changes.
      const { network: _, ...checked } = checkArgument(call, schema, given, limits) as { readonly network: unknown }
      const input = checked as v.InferOutput<Shape<typeof fields>>
      const network = await networks.show(given.network)
      const now = isoTime(clock.now())
      const record = await runner.work(network.id, now, async (tx, emit) => {
        const host = (await tx.first(members, { state: 'active', role: 'host' })) ?? fail(notFound('Member'))
        const principal: Principal = { key_id: null, member_id: host.id, scopes: ['*'] }
        const context = makeContext(settings, runner.newId, tx, { network, principal, now })
        return work({ ...context, emit: (name, payload) => emit({ name, payload } satisfies Emission) }, input)
      })
      return projection(returns, ids)(record, ownOrigin(settings)) as v.InferOutput<typeof returns>
    }
  }
}
