/** Refuses transactions inside of one another: the inner one would wait for the outer one, which waits for it. */
import { AsyncLocalStorage } from 'node:async_hooks'

type Work<A extends readonly unknown[], T> = (...given: A) => Promise<T>

/** Knows which work calls from inside of which. One for each storage, so that two storages may be used in each other. */
export interface Nesting {
  /** @throws TypeError inside of work that was entered and still runs */
  refuse(): void
  /**
   * Work that is marked while it runs. What runs beside it is not, nor what was begun in it and goes on after its end.
   * It runs in the asynchronous context of this call, whoever else's turn it is run in.
   */
  entering<A extends readonly unknown[], T>(work: Work<A, T>): Work<A, T>
}

const insideTransaction =
  'a transaction inside another one of the same storage would wait for itself. Use the outer `tx`, or begin the inner one after its end'

/** @param refusal says what cannot be done inside of the work, and what to do instead */
export function nestingIn(refusal = insideTransaction): Nesting {
  const entered = new AsyncLocalStorage<{ running: boolean }>()
  return {
    refuse() {
      if (entered.getStore()?.running) throw new TypeError(refusal)
    },
    entering(work) {
      const inContext = AsyncLocalStorage.snapshot()
      return (...given) =>
        inContext(() => {
          const mark = { running: true }
          return entered.run(mark, async () => {
            try {
              return await work(...given)
            } finally {
              mark.running = false
            }
          })
        })
    },
  }
}
