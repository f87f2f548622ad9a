import * as v from 'valibot'
import { isoTime } from '../base/clock.ts'
import { shown } from '../base/given.ts'
import type { Principal } from '../context.ts'
import { fail, notFound } from '../errors.ts'
import { IdInput, isPaged, optional } from '../fields.ts'
import { parseInput, parseQuery } from '../kernel/check.ts'
import { readPaging } from '../kernel/page.ts'
import type { Runner } from '../kernel/run.ts'
import { refusingTrouble } from '../kernel/trouble.ts'
import { apiRoot, below, ownOrigin, pageLinks, present } from '../kernel/wire.ts'
import type { AnyOperation } from '../operation.ts'
import { routesOf } from '../operation.ts'
import type { Settings } from '../settings.ts'
import type { Id } from '../storage/table.ts'
import { type MemberRow, members } from '../storage/tables.ts'
import { checkArgument, NetworkName, shape } from './arguments.ts'
import type { Networks } from './networks.ts'

/** A direct call, as it comes in: its types are `Community.call`'s. */
interface DirectCall {
  readonly network: Id | number
  readonly as?: Id | number
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

/** What a call of the operation takes. The body is checked by the operation's own schema, as a request's. */
function makeSchema({ path }: AnyOperation) {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const params = shape(Object.fromEntries(names.map((name) => [name, IdInput])))
  return shape({
    network: NetworkName,
    as: optional(IdInput),
    params: names.length > 0 ? params : optional(params),
    query: optional(Query),
    body: v.optional(v.unknown()),
  })
}

const Query = v.record(
  v.string(),
  v.nullish(v.union([v.string(), v.number(), v.boolean()], 'must be a text, a number or a boolean')),
  'must be an object',
)

/** Values as a URL would carry them. */
const texts = (values: Readonly<Record<string, unknown>> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => [name, String(value)]),
  )

/** Binds `community.call`: an operation without HTTP and with every scope; see there. */
export function directCalls(operations: readonly AnyOperation[], settings: Settings, runner: Runner, networks: Networks) {
  const { clock, limits, ids, basePath } = settings
  const origin = ownOrigin(settings)
  const byId = new Map(routesOf(operations).map((route) => [route.id, route.operation]))

  return async (id: string, given: DirectCall): Promise<unknown> => {
    const operation = byId.get(id)
    if (!operation) throw new TypeError(`there is no operation ${shown(id)}`)
    const input = checkArgument(`call(${shown(id)})`, schemaOf(operation), given, limits)
    const { network: name, as } = input
    const network = await networks.show(name)
    const actor = await runner.read(
      network.id,
      (tx): Promise<MemberRow | undefined> =>
        as === undefined ? tx.first(members, { state: 'active', role: 'host' }) : tx.get(members, as),
    )
    if (actor?.state !== 'active') return fail(notFound('Member'))
    const principal: Principal = { key_id: null, member_id: actor.id, scopes: ['*'] }
    const [params, query] = [texts(input.params), texts(input.query)]
    const paging = readPaging(isPaged(operation.returns) ? query : {})
    const outcome = await refusingTrouble(() =>
      runner.run({
        operation,
        params,
        query: operation.query ? parseQuery(operation.query, query, limits) : {},
        body: operation.body ? parseInput(operation.body, input.body, limits) : undefined,
        paging,
        principal,
        network,
        now: isoTime(clock.now()),
        origin,
      }),
    )
    if (outcome.kind === 'replay' || outcome.result === undefined) return undefined
    const relative = operation.path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? '')
    const path = `${basePath}${apiRoot}/networks/${network.id}${relative}`
    const address = {
      ...below(origin, basePath, path),
      search: Object.keys(query).length > 0 ? `?${new URLSearchParams(query)}` : '',
    }
    return present(operation.returns, outcome.result, ids, (after) => pageLinks(address, paging, after), origin)
  }
}
