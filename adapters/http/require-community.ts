/** The first argument of every adapter. A mistake in it is found when the host starts, and not by its first request. */

/**
 * @param call the function of the adapter, for the message
 * @throws TypeError for anything but a community, such as a Promise of one
 */
export function requireCommunity(community: unknown, call: string): void {
  const { serve } = (community ?? {}) as { readonly serve?: unknown }
  if (typeof serve !== 'function')
    throw new TypeError(
      `${call}: the first argument must be a community, as createCommunity returns it. If it is a Promise, await it first`,
    )
}
