/** The option `requestId` of every adapter. */

/** @throws TypeError when it is no function */
export function requireFunction(requestId: unknown): void {
  if (requestId !== undefined && typeof requestId !== 'function')
    throw new TypeError('option `requestId` must be a function of the request')
}
