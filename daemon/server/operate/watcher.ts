/** The notes of each request: a line, and metrics. */
import { routeTable } from '../../../lib/http/routes.ts'
import type { AnyOperation } from '../../../lib/operation.ts'
import type { Watcher } from '../http/front.ts'
import type { Access } from './log.ts'
import type { Metrics } from './metrics.ts'

export interface WatcherParts {
  readonly operations: readonly AnyOperation[]
  readonly metrics: Metrics | undefined
  readonly access: ((request: Access) => void) | undefined
}

/** @returns `undefined` without metrics and an access log, so that requests cost nothing more */
export function watcherOf({ operations, metrics, access }: WatcherParts): Watcher | undefined {
  if (!metrics && !access) return undefined
  const nameOf = operationNames(operations)
  return {
    async ended({ request, path, status, milliseconds }) {
      const method = request.method ?? 'GET'
      const operation = await nameOf(method, path)
      metrics?.count(operation ?? undefined, status, milliseconds)
      access?.({ method, path, status, operation, milliseconds, from: request.socket.remoteAddress ?? null })
    },
  }
}

/** The operation of a request, for logs and metrics: `tags.create`, or null for no operation. */
function operationNames(operations: readonly AnyOperation[]): (method: string, path: string) => Promise<string | null> {
  const match = routeTable(operations)
  return async (method, path) => {
    const below = /^\/admin\/v1\/networks\/[^/]+(.*)$/s.exec(path)?.[1]
    if (below === undefined) return null
    const found = await match(method, below === '' ? '/' : below)
    return found?.kind === 'route' ? found.route.id : null
  }
}
