/** The common part of storages over a database: closing, and transactions inside one that the host has open. */
import { type FastPaths, type Storage, StorageError, type Tx } from '../../../lib/storage/contract.ts'
import { type Nesting, nestingIn } from '../nesting.ts'
import type { Snapshots } from './snapshots.ts'

/** Work that `close` waits for. */
export interface RunningWork {
  /** @throws StorageError `closed` after `close`; what `work` throws */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Keeps `close` waiting, also after its call. */
  hold(task: Promise<unknown>): void
  /** Resolves when nothing runs. */
  idle(): Promise<void>
  /** Calls `end` once, when nothing runs any more. */
  close(end: () => Promise<void>): Promise<void>
}

export function runningWork(): RunningWork {
  let running = 0
  let closing: Promise<void> | undefined
  let nothingRuns = () => {}

  function leave(): void {
    if (--running === 0) nothingRuns()
  }

  async function idle(): Promise<void> {
    if (running > 0) await new Promise<void>((resolve) => (nothingRuns = resolve))
  }

  return {
    idle,
    async run(work) {
      if (closing) throw new StorageError('closed', 'the storage is closed; open it again')
      running++
      try {
        return await work()
      } finally {
        leave()
      }
    },
    hold(task) {
      running++
      task.then(leave, leave)
    },
    close(end) {
      closing ??= idle().then(end)
      return closing
    },
  }
}

export interface SqlStorageOptions {
  readonly work: RunningWork
  readonly nesting: Nesting
  readonly snapshots: Snapshots
  /** Runs one transaction that writes. @throws what `work` throws, StorageError */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  readonly fast?: FastPaths
  /** Ends the connections. */
  end(): Promise<void>
}

export function sqlStorage({ work, nesting, snapshots, write, fast, end }: SqlStorageOptions): Storage {
  const running = <T>(run: () => Promise<T>): Promise<T> =>
    work.run(() => {
      nesting.refuse()
      return run()
    })
  return {
    transaction: (asked, { readOnly = false } = {}) =>
      running(() => (readOnly ? snapshots.read(asked) : write(nesting.entering(asked)))),
    ...(fast ? { fast } : {}),
    close: () =>
      work.close(async () => {
        await snapshots.settled()
        // The ends of the last snapshots.
        await work.idle()
        await end()
      }),
  }
}

/** Transactions inside of the one that a host has open on a connection, whichever storages they are of. */
interface Turns {
  /** The last one that was asked for. */
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
