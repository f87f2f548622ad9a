/**
 * The first argument of every adapter: a community, or whatever else has a `fetch`. A mistake in it is found when the host starts,
 * and not by its first request. No module of Node is loaded here.
 */

/**
 * A handler of each request that reaches it, such as the tools for agents of `createMcp`, a receiver of webhooks, or metrics. It
 * has no paths of its own: the host decides which requests it gets.
 */
export interface FetchHandler {
  /** Responds to a request. */
  fetch(request: Request): Response | Promise<Response>
}

export const isCommunity = <C extends { readonly serve: unknown }>(mounted: C | FetchHandler): mounted is C =>
  'serve' in mounted && typeof mounted.serve === 'function'

/**
 * @param call the function of the adapter, for the message
 * @throws TypeError for anything that has neither, such as a Promise of a community
 */
export function requireMounted(mounted: unknown, call: string): void {
  const { serve, fetch } = (mounted ?? {}) as { readonly serve?: unknown; readonly fetch?: unknown }
  if (typeof serve !== 'function' && typeof fetch !== 'function')
    throw new TypeError(
      `${call}: the first argument must be a community, as createCommunity returns it, or have a \`fetch\`, as the tools of createMcp do. If it is a Promise, await it first`,
    )
}

/**
 * The response of a handler.
 * @throws TypeError if it is none
 */
export async function fetched(handler: FetchHandler, request: Request): Promise<Response> {
  const response: unknown = await handler.fetch(request)
  // Of another copy of `fetch`, too.
  if (typeof response === 'object' && response !== null && 'headers' in response && 'status' in response)
    return response as Response
  throw new TypeError('a mounted `fetch` must return a Response')
}
