/** Refuses transactions inside of one another: the inner one would wait for the outer one, which waits for it. */
import type { AsyncLocalStorage } from 'node:async_hooks'

type Work<A extends readonly unknown[], T> = (...given: A) => Promise<T>

/** Detects work that calls from inside other work. One for each storage, so that two storages may be used in each other. */
export interface Nesting {
  /** Whether the caller is inside of work that was entered and still runs. */
  isInside(): boolean
  /** @throws TypeError if it is */
  refuse(): void
  /**
   * Work that is marked while it runs. Parallel work is not, nor work that began inside it and continues after its end. It runs
   * in the asynchronous context of this call, in whichever turn it runs.
   */
  entering<A extends readonly unknown[], T>(work: Work<A, T>): Work<A, T>
  /** Runs work synchronously, marked until the mark is taken away. It costs less than `entering`, where the caller's own turn is at hand. */
  enter<A extends readonly unknown[], T>(mark: Mark, work: Work<A, T>, ...given: A): Promise<T>
}

/** Marks work that runs. */
export interface Mark {
  readonly running: boolean
}

const insideTransaction =
  'a transaction inside another one of the same storage would wait for itself. ' +
  'Use the outer `tx` or, in a preview, the calls that it gives; or begin the inner one after its end'

/** The work that a caller is inside of: the mark of each, and the `Nesting` that it belongs to. */
type Entered = readonly { readonly nesting: object; readonly mark: Mark }[]

// Not imported: browsers have no such module, and a bundler for them would stop at its name.
const hooks = (globalThis as { readonly process?: Partial<NodeJS.Process> }).process?.getBuiltinModule?.('node:async_hooks')
// One for all: before Node 24, each `AsyncLocalStorage` that has been used costs every promise of the process time, for ever.
const entered: AsyncLocalStorage<Entered> | undefined = hooks && new hooks.AsyncLocalStorage()

/** Where no context follows a call, as in a browser, the caller has to see to it. */
const unseen: Nesting = {
  isInside: () => false,
  refuse() {},
  enter: (_mark, work, ...given) => work(...given),
  entering: (work) => work,
}

/** @param refusal names the call that is refused inside the work, and the remedy */
export function nestingIn(refusal = insideTransaction): Nesting {
  if (!hooks || !entered) return unseen
  const nesting = {}
  const isInside = () => entered.getStore()?.some((work) => work.nesting === nesting && work.mark.running) === true
  const runMarked = <A extends readonly unknown[], T>(mark: Mark, work: Work<A, T>, given: A): Promise<T> => {
    const running = entered.getStore()?.filter((outer) => outer.mark.running) ?? []
    return entered.run([...running, { nesting, mark }], work, ...given)
  }
  return {
    isInside,
    refuse() {
      if (isInside()) throw new TypeError(refusal)
    },
    enter: (mark, work, ...given) => runMarked(mark, work, given),
    entering(work) {
      // Not `AsyncLocalStorage.snapshot`: it binds a function, which costs ten times as much.
      const context = new hooks.AsyncResource('folkmoot.transaction')
      return (...given) =>
        context.runInAsyncScope(() => {
          const mark = { running: true }
          const marked = async () => {
            try {
              return await work(...given)
            } finally {
              mark.running = false
            }
          }
          return runMarked(mark, marked, [])
        })
    },
  }
}
