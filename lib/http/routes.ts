import { IttyRouter } from 'itty-router/IttyRouter'
import { type AnyOperation, type Route, routesOf } from '../operation.ts'

/** The operation of a path and a method. */
export type Match =
  | { readonly kind: 'route'; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly kind: 'wrong method'; readonly allow: string }
  | { readonly kind: 'unknown' }

const segmentsOf = (path: string): string[] => path.split('/').filter((segment) => segment !== '')

// A router scans its routes one by one. So there is one small router for each first segment and depth, and the cost does not
// grow with the number of operations.
function bucket(path: string): string {
  let depth = 0
  let firstEnd = 0
  // Split by hand: this runs for every request. Empty segments, as in a trailing slash, do not count.
  for (let index = 0, inSegment = false; index <= path.length; index++) {
    const isSlash = index === path.length || path.charCodeAt(index) === 47
    if (!isSlash) inSegment = true
    else if (inSegment) {
      inSegment = false
      depth += 1
      if (depth === 1) firstEnd = index
    }
  }
  return `${depth}${path.slice(0, firstEnd).replace(/^\/*/, '/')}`
}

const generality = ({ operation }: Route): string =>
  segmentsOf(operation.path)
    .map((segment) => (segment.startsWith(':') ? '1' : '0'))
    .join('')

// Static segments first: `/members/by_email` would otherwise match `:id`. The first `localeCompare` of a process costs more than
// all the rest of the table.
const bySpecificity = (a: Route, b: Route): number => {
  const [ofA, ofB] = [generality(a), generality(b)]
  return ofA < ofB ? -1 : ofA > ofB ? 1 : 0
}

interface Compiled {
  readonly route: Route
  readonly pattern: RegExp
  /** The pattern of a more specific path, which this route does not have: `/members/by_email` next to `/members/:id`. */
  readonly except: RegExp | undefined
}

// itty-router compiles the paths, and its table is scanned in its order. Its `fetch` would parse a URL and a query for each
// request and answer by a promise. That costs twice as much as the rest of the match.
const compile = (routes: readonly Route[]): Compiled[] => {
  const router = IttyRouter()
  for (const route of routes) router[route.method.toLowerCase() as 'get'](route.operation.path, () => route)
  const compiled = router.routes.map(([, pattern, [handler]]) => ({ pattern, route: (handler as () => Route)() }))
  return compiled.map(({ pattern, route }) => {
    const isSpecial = (other: Route) => generality(other) < generality(route) && pattern.test(other.operation.path)
    return { pattern, route, except: compiled.find((other) => isSpecial(other.route))?.pattern }
  })
}

const noParams = {}

/** Finds what a method and a path below the network lead to; HEAD is answered as GET. */
type RouteTable = (method: string, path: string) => Match

// A process may have many communities, and they differ in their options, not in their operations.
const tablesBuilt = new WeakMap<readonly AnyOperation[], RouteTable>()

/** The route table of a list of operations, which is built once. Trailing slashes do not matter (docs/gaps.md). */
export function routeTable(operations: readonly AnyOperation[]): RouteTable {
  const built = tablesBuilt.get(operations) ?? buildTable(operations)
  tablesBuilt.set(operations, built)
  return built
}

function buildTable(operations: readonly AnyOperation[]): RouteTable {
  const buckets = new Map<string, Route[]>()
  for (const route of routesOf(operations)) {
    const name = bucket(route.operation.path)
    buckets.set(name, [...(buckets.get(name) ?? []), route])
  }
  const tables = new Map([...buckets].map(([name, routes]) => [name, compile(routes.sort(bySpecificity))]))

  return (method, path) => {
    const table = tables.get(bucket(path)) ?? []
    const wanted = method === 'HEAD' ? 'GET' : method
    for (const { route, pattern, except } of table) {
      const found = route.method === wanted ? pattern.exec(path) : null
      if (found && !except?.test(path)) return { kind: 'route', route, params: found.groups ?? noParams }
    }
    const having = table.filter(({ pattern, except }) => pattern.test(path) && !except?.test(path))
    const allowed = having.map(({ route }) => route.method)
    if (allowed.length === 0) return { kind: 'unknown' }
    return {
      kind: 'wrong method',
      allow: [...new Set(allowed.includes('GET') ? [...allowed, 'HEAD'] : allowed)].sort().join(', '),
    }
  }
}
