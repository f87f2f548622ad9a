import { routeTable } from '../../../lib/http/routes.ts'
import type { AnyOperation } from '../../../lib/operation.ts'

/** The operation of a request, for logs and metrics: `tags.create`, or null for no operation. */
export function operationNames(operations: readonly AnyOperation[]): (method: string, path: string) => Promise<string | null> {
  const match = routeTable(operations)
  return async (method, path) => {
    const below = /^\/admin\/v1\/networks\/[^/]+(.*)$/s.exec(path)?.[1]
    if (below === undefined) return null
    const found = await match(method, below === '' ? '/' : below)
    return found?.kind === 'route' ? found.route.id : null
  }
}
