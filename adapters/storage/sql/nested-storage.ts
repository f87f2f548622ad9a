/** Transactions inside of the one that a host has open on a connection, whichever storages they are of. */
import type { Storage, Tx } from '../../../lib/storage/contract.ts'
import { type Nesting, nestingIn } from '../nesting.ts'

interface Turns {
  /** The last one that was requested. */
  last: Promise<unknown>
  readonly nesting: Nesting
}

const turnsOf = new WeakMap<object, Turns>()

function turnsOn(connection: object): Turns {
  const turns = turnsOf.get(connection) ?? { last: Promise.resolve(), nesting: nestingIn() }
  turnsOf.set(connection, turns)
  return turns
}

/**
 * A storage inside of a transaction that the host has open. Its transactions are savepoints, which undo each other unless they run
 * one after another. So they take turns with those of every other such storage on the connection. Closing it does nothing.
 *
 * @param connection the host's
 * @param run runs one of them
 */
export function nestedStorage(
  connection: object,
  run: <T>(work: (tx: Tx) => Promise<T>, readOnly: boolean) => Promise<T>,
): Storage {
  const nesting = nestingIn()
  const turns = turnsOn(connection)
  return {
    async transaction(work, { readOnly = false } = {}) {
      nesting.refuse()
      const isInside = turns.nesting.isInside()
      const mark = { running: true }
      const entering = nesting.entering((tx: Tx) =>
        turns.nesting.enter(mark, work, tx).finally(() => {
          mark.running = false
        }),
      )
      // Another storage's, in the work of this turn, is a savepoint in its savepoint.
      if (isInside) return run(entering, readOnly)
      const turn = turns.last.then(() => run(entering, readOnly))
      turns.last = turn.catch(() => undefined)
      return turn
    },
    close: async () => {},
  }
}
