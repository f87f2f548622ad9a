/**
 * How the host's own calls are made: checked like a request, run in one transaction with their events, with a record as their
 * result.
 */
import type * as v from 'valibot'
import type { Emitter } from '../../call.ts'
import type { EventName } from '../../events/catalogue.ts'
import type { Fields } from '../../fields.ts'
import type { Pipeline } from '../../kernel/pipeline.ts'
import type { NotificationHandler } from '../../kernel/run.ts'
import { refusingTrouble } from '../../kernel/storage-errors.ts'
import { ownOrigin } from '../../kernel/wire.ts'
import type { Settings } from '../../settings.ts'
import type { Id } from '../../storage/table.ts'
import { checkArgument, NetworkName, shape } from '../arguments.ts'
import type { Networks } from '../networks.ts'

type Shape<F extends Fields> = v.ObjectSchema<F, (issue: v.ObjectIssue) => string>

/** The argument of a notification: the network, by id or subdomain, and its own fields. */
export type NotificationInput<F extends Fields> = {
  /** The network, by id or subdomain. */
  readonly network: Id | number
} & Readonly<v.InferInput<Shape<F>>>

/** One of the host's calls. */
export type HostNotification<F extends Fields, R extends v.GenericSchema> = (
  given: NotificationInput<F>,
) => Promise<v.InferOutput<R>>

/** The same call, with its fields written out, so that editors show readable types. */
export type Plainly<Call> = Call extends (given: infer T) => Promise<infer R> ? (given: Plain<T>) => Promise<Plain<R>> : never
type Plain<T> = { [K in keyof T]: T[K] } & {}

/**
 * Makes a call of the host.
 * @param fields its fields in addition to the network
 * @param returns the record that it returns
 * @param work runs in one transaction; the network's first host counts as the one who acts
 */
export type MakeNotification = <F extends Fields, R extends v.GenericSchema>(
  fields: F,
  returns: R,
  work: (call: Emitter<EventName>, given: v.InferOutput<Shape<F>>) => Promise<v.InferInput<R>>,
) => HostNotification<F, R>

/**
 * Binds the host's calls to a community.
 * @param id the name of the call in messages
 */
export function notificationsOf(settings: Settings, { value }: Pipeline, networks: Networks, id: string): MakeNotification {
  const { limits } = settings
  const address = { origin: ownOrigin(settings), path: '', search: '' }
  return (fields, returns, work) => {
    const schema = shape({ network: NetworkName, ...fields })
    const operation: NotificationHandler = {
      isNotification: true,
      id,
      method: 'POST',
      status: 200,
      body: shape(fields),
      returns,
      handle: (call) => work(call, call.body as v.InferOutput<Shape<typeof fields>>),
    }
    return async (given) => {
      checkArgument(id, schema, given, limits)
      const network = await networks.show(given.network)
      const request = { operation, network, caller: { as: undefined }, params: {}, query: {}, body: given, address }
      return (await refusingTrouble(() => value(request))) as v.InferOutput<typeof returns>
    }
  }
}
