import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Calls something as another request would: outside of the transaction in which a test calls it. Inside, a second one of the
 * same storage would be refused.
 */
export const elsewhere: <T>(call: () => T) => T = AsyncLocalStorage.snapshot()
