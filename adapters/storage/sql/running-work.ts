/** The work of a storage that runs, for which its end waits. */
import { StorageError } from '../../../lib/storage/contract.ts'

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
  let waiting: (() => void)[] = []

  function leave(): void {
    if (--running > 0) return
    for (const resolve of waiting) resolve()
    waiting = []
  }

  async function idle(): Promise<void> {
    if (running > 0) await new Promise<void>((resolve) => waiting.push(resolve))
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
