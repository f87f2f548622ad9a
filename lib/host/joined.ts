/** Calls inside of a transaction that the host has open. */

/**
 * Calls of which a failure is thrown only when no other one runs. A host that gives up at the first failure rolls back then. Work that
 * still ran would end behind the rollback: without a transaction, or in the next one of that connection.
 *
 * A `TypeError` is thrown at once. It is a mistake of the program, such as a call from inside another one, which waits for it.
 */
export function failingLast<T extends object>(calls: T): T {
  const running = new Set<Promise<unknown>>()

  async function ended(call: Promise<unknown>): Promise<unknown> {
    running.add(call)
    try {
      return await call
    } catch (error) {
      running.delete(call)
      while (running.size > 0 && !(error instanceof TypeError)) await Promise.allSettled(running)
      throw error
    } finally {
      running.delete(call)
    }
  }

  const held = (part: object): object =>
    Object.fromEntries(
      Object.entries(part).map(([name, value]) => {
        if (typeof value !== 'function') return [name, held(value)]
        return [
          name,
          (...given: unknown[]) => {
            const result = value(...given)
            return result instanceof Promise ? ended(result) : held(result)
          },
        ]
      }),
    )

  return held(calls) as T
}
