/** A router for a short list of routes. The API has its own, whose cost does not grow with the number of operations. */

/** What a list of routes is matched by. */
export interface Matchable {
  readonly method: string
  /** Without a slash at its ends: `keys/:id/revoke`. */
  readonly path: string
}

/** The segments of a path that begins with a slash. */
export const segmentsOf = (path: string): readonly string[] => path.slice(1).split('/')

/**
 * The first route that fits. So fixed paths come before those with parameters.
 * @param segments of the path, as they were called
 * @returns its parameters, never empty; without a route, the methods that the path has
 */
export function matchRoute<R extends Matchable>(
  routes: readonly R[],
  method: string,
  segments: readonly string[],
): { readonly route: R | undefined; readonly params: Readonly<Record<string, string>>; readonly methods: readonly string[] } {
  const methods: string[] = []
  for (const route of routes) {
    const parts = route.path.split('/')
    const fits = (part: string, at: number) => (part.startsWith(':') ? segments[at] !== '' : part === segments[at])
    if (parts.length !== segments.length || !parts.every(fits)) continue
    methods.push(route.method)
    if (route.method !== method) continue
    const named = parts.flatMap((part, at) => (part.startsWith(':') ? [[part.slice(1), segments[at] ?? '']] : []))
    return { route, params: Object.fromEntries(named), methods }
  }
  return { route: undefined, params: {}, methods }
}
