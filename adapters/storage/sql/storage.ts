/** The common part of storages over a database: closing, and transactions inside one that the host has open. */
import { type Storage, StorageError, type Tx } from '../../../lib/storage/contract.ts'
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
  /** Runs one that is likely to add rows alone. By default like every other one. @throws the same */
  add?<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** See `Storage`. */
  version?: Storage['version']
  /** Ends the connections. */
  end(): Promise<void>
}

export const sqlStorage = ({ work, nesting, snapshots, write, add = write, version, end }: SqlStorageOptions): Storage => ({
  ...(version ? { version } : {}),
  transaction: (asked, { readOnly = false, adds = false } = {}) =>
    work.run(() => {
      nesting.refuse()
      if (readOnly) return snapshots.read(asked)
      const entering = nesting.entering(asked)
      return adds ? add(entering) : write(entering)
    }),
  close: () =>
    work.close(async () => {
      await snapshots.settled()
      // The ends of the last snapshots.
      await work.idle()
      await end()
    }),
})

/**
 * A storage inside of a transaction that the host has open: its transactions run one after another, each in a savepoint. Closing it
 * does nothing.
 *
 * @param run runs one of them
 */
export function nestedStorage(run: <T>(work: (tx: Tx) => Promise<T>, readOnly: boolean) => Promise<T>): Storage {
  const nesting = nestingIn()
  let last: Promise<unknown> = Promise.resolve()
  return {
    async transaction(work, { readOnly = false } = {}) {
      nesting.refuse()
      const entering = nesting.entering(work)
      const turn = last.then(() => run(entering, readOnly))
      last = turn.catch(() => undefined)
      return turn
    },
    close: async () => {},
  }
}
