/** The common part of storages over a database. */
import type { FastPaths, Storage, Tx } from '../../../lib/storage/contract.ts'
import type { Nesting } from '../nesting.ts'
import { heldSnapshots } from './held-snapshots.ts'
import type { RunningWork } from './running-work.ts'
import type { Snapshots } from './snapshots.ts'

export interface SqlStorageOptions {
  readonly work: RunningWork
  readonly nesting: Nesting
  readonly snapshots: Snapshots
  /** Runs one transaction that writes. @throws what `work` throws, StorageError */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  readonly fast?: FastPaths
  /** Whether connections may be held for minutes. */
  readonly holdsSnapshots: boolean
  /** Ends the connections. */
  end(): Promise<void>
}

export function sqlStorage({ work, nesting, snapshots, write, fast, holdsSnapshots, end }: SqlStorageOptions): Storage {
  const running = <T>(run: () => Promise<T>): Promise<T> =>
    work.run(() => {
      nesting.refuse()
      return run()
    })
  const transaction: Storage['transaction'] = (task, { readOnly = false } = {}) =>
    running(() => (readOnly ? snapshots.read(task) : write(nesting.entering(task))))
  const held = holdsSnapshots ? heldSnapshots(transaction) : undefined
  return {
    transaction,
    ...(fast ? { fast } : {}),
    ...(held ? { snapshots: held } : {}),
    close() {
      held?.close()
      return work.close(async () => {
        await snapshots.settled()
        // The ends of the last snapshots.
        await work.idle()
        await end()
      })
    },
  }
}
