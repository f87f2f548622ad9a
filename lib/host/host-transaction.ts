/** Calls inside of a transaction that the host has open. */
import type { Storage } from '../storage/contract.ts'

/**
 * Calls of which a failure is thrown only when no other one runs. A host that stops at the first failure rolls back then. Work that
 * still ran would end behind the rollback: without a transaction, or in the next one of that connection.
 *
 * A failure inside another call is thrown immediately, because that call waits for it. So is one without an open transaction.
 *
 * @param storage the storage of the transaction. It refuses with a `TypeError` in both of these cases
 */
export function failingLast<T extends object>(calls: T, storage: Storage): T {
  const running = new Set<Promise<unknown>>()
  const isRefused = (): Promise<boolean> =>
    storage
      .transaction(async () => {}, { readOnly: true })
      .then(
        () => false,
        (error: unknown) => error instanceof TypeError,
      )

  async function ended(call: Promise<unknown>): Promise<unknown> {
    running.add(call)
    try {
      return await call
    } catch (error) {
      running.delete(call)
      if (running.size > 0 && !(await isRefused())) while (running.size > 0) await Promise.allSettled(running)
      throw error
    } finally {
      running.delete(call)
    }
  }

  const walked = (rows: AsyncIterator<unknown>) => ({
    next: () => ended(rows.next()),
    return: async (value?: unknown) => rows.return?.(value),
    [Symbol.asyncIterator]() {
      return this
    },
  })

  const held = (part: object): object =>
    Object.fromEntries(
      Object.entries(part).map(([name, value]) => {
        if (typeof value !== 'function') return [name, held(value)]
        return [
          name,
          (...given: unknown[]) => {
            const result = value(...given)
            if (Symbol.asyncIterator in result) return walked(result)
            // Not `instanceof`: a host may have put another class in place of `Promise`.
            return 'then' in result ? ended(result) : held(result)
          },
        ]
      }),
    )

  return held(calls) as T
}
