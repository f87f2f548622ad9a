/** A bound for work of others: a function that never returns must not keep its caller waiting. */

/** Something did not respond in time. */
export class TooSlow extends Error {
  /** @param what the function that was called, for the log */
  constructor(what: string, milliseconds: number) {
    super(`${what} did not respond within ${milliseconds} ms`)
    this.name = 'TooSlow'
  }
}

/**
 * The result of some work, if it comes in time. The work itself continues, and a late rejection of it is ignored.
 * @param milliseconds at most
 * @param what names the work in the error
 * @throws TooSlow
 */
export async function within<T>(milliseconds: number, what: string, work: T | PromiseLike<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new TooSlow(what, milliseconds)), milliseconds)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Resolves after so many milliseconds. */
export const pause = (milliseconds: number): Promise<void> => new Promise((over) => void setTimeout(over, milliseconds))
