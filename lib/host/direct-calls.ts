import * as v from 'valibot'
import { shown } from '../base/describe-value.ts'
import { nearest } from '../base/suggest.ts'
import { idsIn } from '../client/names.ts'
import { IdInput, optional } from '../fields.ts'
import type { Pipeline } from '../kernel/pipeline.ts'
import { refusingTrouble } from '../kernel/storage-errors.ts'
import { apiRoot, below, ownOrigin } from '../kernel/wire.ts'
import type { AnyOperation } from '../operation.ts'
import { routesOf } from '../operation.ts'
import type { Settings } from '../settings.ts'
import type { Id } from '../storage/table.ts'
import { checkArgument, NetworkName, recordOf, shape } from './arguments.ts'
import type { Networks } from './networks.ts'

/** A direct call, as it comes in: its types are `Community.call`'s. */
interface DirectCall {
  readonly network: Id | number
  readonly as?: Id | number
  readonly if?: string
  readonly params?: object
  readonly query?: object
  readonly body?: unknown
}

const schemas = new WeakMap<AnyOperation, ReturnType<typeof makeSchema>>()

function schemaOf(operation: AnyOperation) {
  const schema = schemas.get(operation) ?? makeSchema(operation)
  schemas.set(operation, schema)
  return schema
}

/** The argument of a direct call. The body is checked by the operation's own schema, as a request's. */
function makeSchema({ path }: AnyOperation) {
  const names = idsIn(path)
  const params = shape(Object.fromEntries(names.map((name) => [name, IdInput])))
  return shape({
    network: NetworkName,
    as: optional(IdInput),
    if: optional(v.string('must be the token of a preview')),
    params: names.length > 0 ? params : optional(params),
    query: optional(Query),
    body: v.optional(v.unknown()),
  })
}

const Query = recordOf(v.nullish(v.union([v.string(), v.number(), v.boolean()], 'must be a text, a number or a boolean')))

/** Values as a URL would carry them. */
const texts = (values: Readonly<Record<string, unknown>> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => [name, String(value)]),
  )

function meant(id: unknown, known: readonly string[]): string {
  const near = nearest(String(id).slice(0, 60), known)
  return near.length > 0 ? `; did you mean ${near.join(' or ')}?` : ''
}

/** `community.call` with its types erased. */
export type AnyDirectCall = (id: string, given: DirectCall) => Promise<unknown>

/** Binds `community.call`: an operation without HTTP and with every scope; see there. */
export function directCalls(
  operations: readonly AnyOperation[],
  settings: Settings,
  { value }: Pipeline,
  networks: Networks,
): AnyDirectCall {
  const { limits, basePath } = settings
  const byId = new Map(routesOf(operations).map((route) => [route.id, route.operation]))

  return async (id, given) => {
    const operation = byId.get(id)
    if (!operation) throw new TypeError(`there is no operation ${shown(id)}${meant(id, [...byId.keys()])}`)
    const input = checkArgument(`call(${shown(id)})`, schemaOf(operation), given, limits)
    const network = await networks.show(input.network)
    const [params, query] = [texts(input.params), texts(input.query)]
    const relative = operation.path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? '')
    const address = {
      ...below(ownOrigin(settings), basePath, `${basePath}${apiRoot}/networks/${network.id}${relative}`),
      search: Object.keys(query).length > 0 ? `?${new URLSearchParams(query)}` : '',
    }
    const { body, as, if: token } = input
    return refusingTrouble(() => value({ operation, network, caller: { as }, params, query, body, address, if: token }))
  }
}
