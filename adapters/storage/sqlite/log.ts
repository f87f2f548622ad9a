/**
 * The write-ahead log of a SQLite file, synced off the event loop. SQLite itself would sync it inside of COMMIT, and nothing
 * else would run during that time. So COMMIT only writes the log here (`synchronous = NORMAL`). No caller sees a commit before
 * its log is on the disk: neither the writer, nor a reader of this process, nor the relay.
 */
import { open } from 'node:fs/promises'
import { StorageError } from '../../../lib/storage/contract.ts'
import { errorCode } from '../../files/errors.ts'
import { syncContent } from '../../files/sync.ts'

/** The part of an open file that a sync needs. */
export interface LogFile {
  /** Makes what was written durable, as `fdatasync`. */
  datasync(): Promise<void>
  /** Frees its descriptor. */
  close(): Promise<void>
}

/**
 * Opens the log of a SQLite file, which is there while a connection is open. SQLite holds no lock on it.
 * @returns `undefined` where SQLite keeps none, as on a file system without shared memory: then COMMIT syncs
 */
export async function openLogFile(path: string): Promise<LogFile | undefined> {
  try {
    const file = await open(`${path}-wal`, 'r+')
    let last = Promise.resolve()
    return {
      datasync() {
        last = syncContent(file)
        return last
      },
      // The number of a closed file may belong to another file right away.
      async close() {
        await last.catch(() => undefined)
        await file.close()
      },
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

export interface Log {
  /**
   * Resolves when everything in the log at the time of the call is on the disk. Calls that wait share a sync.
   * @throws StorageError `unknown`, also for every later call until `begunAnew`
   */
  synced(): Promise<void>
  /** The last of the syncs that run or wait; `undefined` if all are over. @throws StorageError `unknown` */
  pending(): Promise<void> | undefined
  /** Whether a sync has failed. Its effect is unknown, and another one may report success for pages that the kernel has dropped. */
  isDoubtful(): boolean
  /** The log is empty, and its content is in the database file, on the disk. */
  begunAnew(): void
  close(): Promise<void>
}

/**
 * @param file `undefined` where COMMIT syncs
 * @param path the SQLite file, for messages
 */
export function logOver(file: LogFile | undefined, path: string): Log {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  let doubt: StorageError | undefined

  async function sync(): Promise<void> {
    try {
      if (!doubt) await file?.datasync()
    } catch (cause) {
      const message = `${path}: the disk failed in a sync, so whether the commit came through is not known: ${(cause as Error).message}`
      doubt = new StorageError('unknown', message, { cause })
    }
    if (doubt) throw doubt
  }

  function begin(): Promise<void> {
    next = undefined
    running = sync().finally(() => {
      running = undefined
    })
    return running
  }

  return {
    synced() {
      if (!running) return begin()
      // The one that runs may have begun before the last commit.
      next ??= running.then(begin, begin)
      return next
    },
    pending: () => next ?? running,
    isDoubtful: () => doubt !== undefined,
    begunAnew() {
      doubt = undefined
    },
    async close() {
      await (next ?? running)?.catch(() => undefined)
      await file?.close()
    },
  }
}
