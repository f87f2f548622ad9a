/**
 * The one writer of a file: transactions one after another, committed in groups.
 *
 * Terms
 * - **Group**: transactions that share one BEGIN and one COMMIT, because the sync of a commit costs as much as a dozen of
 *   them. Each is a savepoint, so one that throws is undone without the others. Nobody hears of theirs before the COMMIT.
 * - **Turn** of the event loop: a group stays open for some, so that requests which have arrived get into it.
 */
import { setImmediate } from 'node:timers/promises'
import { isStorageError, StorageError } from '../../../lib/storage/contract.ts'
import { whileBusy } from '../../sql/sqlite/busy.ts'
import type { Connection } from '../../sql/sqlite/connection.ts'
import { faultOf, storageErrorOf } from '../../sql/sqlite/errors.ts'

/** More than these do not wait for each other. */
const maxInGroup = 128
/** A commit holds up the whole process. Reads that arrived beside a group begin in its first turn, and are answered in the second. */
const fewestTurns = 3

export interface GroupCommits {
  /** Runs work in a separate transaction; resolves when that is durable. @throws the error of `work`, StorageError */
  transaction<T>(work: () => Promise<T>): Promise<T>
  /** Runs work while no transaction of this writer is open, so that somebody else in this process may begin one. */
  exclusive<T>(work: () => Promise<T>): Promise<T>
}

interface Job {
  readonly exclusive: boolean
  /** Runs the work and returns the function that reports its end. It never rejects. */
  run(): Promise<Ended>
  reject(error: unknown): void
}

interface Ended {
  readonly failed: boolean
  readonly error?: unknown
  readonly tell: () => void
}

/**
 * @param connection the writer's own
 * @param busyTimeoutMs milliseconds to wait for another process that writes
 */
export function groupCommits(connection: Connection, path: string, busyTimeoutMs: number): GroupCommits {
  const { database } = connection
  const queue: Job[] = []
  let running = false

  function add<T>(work: () => Promise<T>, exclusive: boolean): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const run = async (): Promise<Ended> => {
      try {
        const value = await work()
        return { failed: false, tell: () => resolve(value) }
      } catch (error) {
        return { failed: true, error, tell: () => reject(error) }
      }
    }
    queue.push({ exclusive, run, reject })
    if (!running) void runAll()
    return promise
  }

  async function runAll(): Promise<void> {
    running = true
    while (queue[0]) {
      if (queue[0].exclusive) (await queue.shift()?.run())?.tell()
      else await runGroup()
    }
    running = false
  }

  async function runGroup(): Promise<void> {
    try {
      await whileBusy(busyTimeoutMs, () => connection.run('BEGIN IMMEDIATE'))
    } catch (error) {
      // Waiting work has waited as long; later work tries again.
      for (const job of queue.splice(0)) job.reject(storageErrorOf(error, path))
      return
    }
    const jobs: Job[] = []
    const ends: Ended[] = []
    let turns = 0
    try {
      do {
        for (let job = next(jobs.length); job; job = next(jobs.length)) {
          jobs.push(job)
          ends.push(await runOne(job))
        }
        await setImmediate()
        turns += 1
      } while (jobs.length < maxInGroup && !queue[0]?.exclusive && (queue[0] || turns < fewestTurns))
      commit()
    } catch (error) {
      if (database.isTransaction) connection.run('ROLLBACK')
      const known = storageErrorOf(error, path)
      const reason = isStorageError(known)
        ? known
        : new StorageError('unavailable', `${path}: the commit failed`, { cause: known })
      for (const job of jobs) job.reject(reason)
      return
    }
    for (const { tell } of ends) tell()
  }

  /** @throws StorageError `unknown` after an error of the disk: the log may hold the commit, and a crash would bring it back */
  function commit(): void {
    try {
      connection.run('COMMIT')
    } catch (error) {
      if (faultOf(error) !== 'disk') throw error
      throw new StorageError('unknown', `${path}: the disk failed in the commit; whether it came through is not known`, {
        cause: error,
      })
    }
  }

  function next(taken: number): Job | undefined {
    return taken < maxInGroup && queue[0]?.exclusive === false ? queue.shift() : undefined
  }

  /** @throws what SQLite threw when it gave up the whole group, as it does on a full disk */
  async function runOne(job: Job): Promise<Ended> {
    connection.run('SAVEPOINT work')
    const ended = await job.run()
    if (!database.isTransaction) throw ended.error ?? new Error('the transaction was ended from outside')
    if (ended.failed) connection.run('ROLLBACK TO work')
    connection.run('RELEASE work')
    return ended
  }

  return {
    transaction: (work) => add(work, false),
    exclusive: (work) => add(work, true),
  }
}
