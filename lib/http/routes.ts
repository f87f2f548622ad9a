import { IttyRouter } from 'itty-router/IttyRouter'
import { type AnyOperation, type Route, routesOf } from '../operation.ts'

/** The operation of a path and a method. */
export type Match =
  | { readonly kind: 'route'; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'wrong method'; readonly allow: string }

/** Finds the operation of a method and a path below the network, if there is such a path; HEAD is routed as GET. */
type RouteTable = (method: string, path: string) => Promise<Match | undefined>

// A process may have many communities, and they differ in their options, not in their operations.
const tablesBuilt = new WeakMap<readonly AnyOperation[], RouteTable>()

/** The route table of a list of operations, which is built once. Trailing slashes do not matter (docs/gaps.md). */
export function routeTable(operations: readonly AnyOperation[]): RouteTable {
  const built = tablesBuilt.get(operations) ?? buildTable(operations)
  tablesBuilt.set(operations, built)
  return built
}

// A router tries its routes one by one. So there is one router for each first segment and number of segments, and the cost does not
// grow with the number of operations.
function buildTable(operations: readonly AnyOperation[]): RouteTable {
  const byPlace = Map.groupBy(routesOf(operations), ({ operation }) => placeOf(operation.path))
  const routers = new Map([...byPlace].map(([place, routes]) => [place, routerOf(routes)]))
  return async (method, path) => {
    const router = ambiguous.test(path) ? undefined : routers.get(placeOf(path))
    // Never the host's request: the router writes into what it gets.
    return router?.fetch({ method: method === 'HEAD' ? 'GET' : method, url: `http://network${path}` })
  }
}

const placeOf = (path: string): string => {
  const segments = path.split('/').filter((segment) => segment !== '')
  return `${segments.length} ${segments[0]}`
}

/** Paths that `new URL` would take for others: `/tags/1#`, `/tags/./1`. */
const ambiguous = /[\0- #?\\]|\/(?:\.|%2e){1,2}(?:\/|$)/i

/** A request as the router hands it to a handler. */
interface RoutedRequest {
  readonly params: Readonly<Record<string, string>>
}

/** The routes below one first segment. The first match wins, so each path ends with a refusal of the methods that it lacks. */
function routerOf(routes: readonly Route[]) {
  const router = IttyRouter()
  const byShape = Map.groupBy(routes, ({ operation }) => operation.path.replace(/:\w+/g, ':').replace(/\/$/, ''))
  // Static segments first: `/members/by_email` would otherwise match `:id`. Letters come after a colon, so the order is reversed.
  for (const [shape, alike] of [...byShape].sort(([a], [b]) => (a < b ? 1 : -1))) {
    for (const route of alike)
      router[route.method](route.operation.path, ({ params }: RoutedRequest): Match => ({ kind: 'route', route, params }))
    const methods = new Set(alike.flatMap(({ method }) => (method === 'GET' ? [method, 'HEAD'] : [method])))
    const refusal: Match = { kind: 'wrong method', allow: [...methods].sort().join(', ') }
    router.all(alike[0]?.operation.path ?? shape, () => refusal)
  }
  return router
}
