import { fail, found, notFound } from '../errors.ts'
import { parseInput, parseQuery } from '../kernel/body.ts'
import { isoTime } from '../kernel/clock.ts'
import { pageLinks, readPaging } from '../kernel/page.ts'
import type { Runner } from '../kernel/run.ts'
import { apiRoot, isPaged, present } from '../kernel/serve.ts'
import { routesOf } from '../kernel/table.ts'
import { refusingTrouble } from '../kernel/trouble.ts'
import type { AnyOperation, Principal } from '../operation.ts'
import type { Settings } from '../options.ts'
import type { Id } from '../storage/table.ts'
import { type MemberRow, members } from '../storage/tables.ts'
import type { Networks } from './networks.ts'

/** A direct call, as it comes in: its types are `Community.call`'s. */
interface DirectCall {
  readonly network: Id | number
  readonly as?: Id | number
  readonly params?: object
  readonly query?: object
  readonly body?: unknown
}

/** Values as a URL would carry them. */
const texts = (values: object = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, String(value)]),
  )

/** Binds `community.call`: an operation without HTTP and with every scope; see there. */
export function directCalls(operations: readonly AnyOperation[], settings: Settings, runner: Runner, networks: Networks) {
  const { clock, limits, ids, basePath } = settings
  const byId = new Map(routesOf(operations).map((route) => [route.id, route.operation]))

  return async (id: string, input: DirectCall): Promise<unknown> => {
    const operation = byId.get(id)
    if (!operation) throw new TypeError(`there is no operation ${JSON.stringify(id)}`)
    const network = found(await networks.find(String(input.network)), 'Network')
    const { as } = input
    const actor = await runner.read(
      network.id,
      (tx): Promise<MemberRow | undefined> =>
        as === undefined ? tx.first(members, { state: 'active', role: 'host' }) : tx.get(members, String(as)),
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
      }),
    )
    if (outcome.kind === 'replay' || outcome.result === undefined) return undefined
    const below = operation.path.replace(/:(\w+)/g, (_, name: string) => params[name] ?? '')
    const address = {
      origin: settings.publicUrl ?? 'https://localhost',
      path: `${basePath}${apiRoot}/networks/${network.id}${below}`,
      search: Object.keys(query).length > 0 ? `?${new URLSearchParams(query)}` : '',
    }
    return present(operation.returns, outcome.result, ids, (after) => pageLinks(address, paging, after))
  }
}
