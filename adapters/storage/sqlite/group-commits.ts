/**
 * The one writer of a file: transactions one after another, committed in groups.
 *
 * Terms
 * - **Group**: transactions that share one BEGIN and one COMMIT, because the sync of a commit costs as much as a dozen of
 *   them. Each is a savepoint, so one that throws is undone without the others. No caller sees theirs before the log is synced.
 *   While it syncs, the next group works on.
 * - **Turn** of the event loop: a group stays open for some, so that requests which have arrived get into it.
 */
import { setImmediate } from 'node:timers/promises'
import { isStorageError, StorageError } from '../../../lib/storage/contract.ts'
import { whileBusy } from '../../sql/sqlite/busy.ts'
import type { Connection } from '../../sql/sqlite/connection.ts'
import { faultOf, storageErrorOf } from '../../sql/sqlite/errors.ts'
import type { Log } from './log.ts'

/** More than these do not wait for each other. */
const maxInGroup = 128
/** So many are committed as soon as no sync runs. The others that have arrived are worked on during the sync, in the next group. */
const enoughInGroup = 16
/**
 * A commit holds up the whole process. Reads that arrived with a group begin in its first turn, and get their responses in the
 * second.
 */
const fewestTurns = 3
const sqliteBusy = 5

export interface GroupCommits {
  /** Runs work in a separate transaction; resolves when that is durable. @throws the error of `work`, StorageError */
  transaction<T>(work: () => Promise<T>): Promise<T>
  /** Runs work while no transaction of this writer is open, so that another writer in this process may begin one. */
  exclusive<T>(work: () => Promise<T>): Promise<T>
}

interface Job {
  readonly exclusive: boolean
  /** Runs the work and returns the function that reports its end. It never rejects. */
  run(): Promise<JobResult>
  reject(error: unknown): void
}

interface JobResult {
  readonly failed: boolean
  readonly error?: unknown
  readonly settle: () => void
}

export interface GroupCommitOptions {
  /** The writer's own. Its commits do not sync the log. */
  readonly connection: Connection
  readonly path: string
  readonly log: Log
  /** Milliseconds to wait for another process that writes. */
  readonly busyTimeoutMs: number
  /** Called before a group begins. If it throws, nothing is written. */
  readonly beforeBegin?: () => void
  readonly begun?: () => void
  /** Called before each commit. If it throws, the group is undone. */
  readonly beforeCommit?: () => void
  /** Called right after each commit: what is awaited before the commit is reported. By default a sync of the log. */
  readonly sync?: () => Promise<void> | undefined
}

export function groupCommits(options: GroupCommitOptions): GroupCommits {
  const { connection, path, log, busyTimeoutMs, sync = log.synced } = options
  const { database } = connection
  const queue: Job[] = []
  let running = false
  /** Ends the wait of an open group for another job. */
  let wake = () => {}

  function add<T>(work: () => Promise<T>, exclusive: boolean): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    const run = async (): Promise<JobResult> => {
      try {
        const value = await work()
        return { failed: false, settle: () => resolve(value) }
      } catch (error) {
        return { failed: true, error, settle: () => reject(error) }
      }
    }
    queue.push({ exclusive, run, reject })
    wake()
    if (!running) void runAll()
    return promise
  }

  /** Waits for another job until then. @returns whether there is one */
  async function joinedUntil(over: Promise<unknown>): Promise<boolean> {
    const { promise: woken, resolve } = Promise.withResolvers<void>()
    wake = resolve
    await Promise.race([over, woken])
    return queue[0] !== undefined
  }

  async function runAll(): Promise<void> {
    running = true
    while (queue[0]) {
      if (queue[0].exclusive) (await queue.shift()?.run())?.settle()
      else await runGroup()
    }
    running = false
  }

  async function runGroup(): Promise<void> {
    try {
      await whileBusy(busyTimeoutMs, begin)
    } catch (error) {
      // Waiting work has waited as long; later work tries again.
      for (const job of queue.splice(0)) job.reject(storageErrorOf(error, path))
      return
    }
    const jobs: Job[] = []
    const ends: JobResult[] = []
    // The sync of the groups before. Later ones, after commits of other processes, do not keep this group open.
    const before = log.pending()?.catch(() => undefined)
    try {
      for (let turns = 1; ; turns++) {
        for (let job = next(jobs.length); job; job = next(jobs.length)) {
          jobs.push(job)
          ends.push(await runOne(job))
        }
        await setImmediate()
        if (jobs.length >= maxInGroup || queue[0]?.exclusive) break
        if (turns < fewestTurns) continue
        if (queue[0] && (jobs.length < enoughInGroup || log.pending())) continue
        // The sync of this group cannot begin earlier than that one ends. Until then others join it.
        if (queue[0] || !before || !(await joinedUntil(before))) break
      }
      options.beforeCommit?.()
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
    void tellWhenSynced(jobs, ends)
  }

  /** Never rejects. */
  async function tellWhenSynced(jobs: readonly Job[], ends: readonly JobResult[]): Promise<void> {
    try {
      await sync()
      for (const { settle } of ends) settle()
    } catch (error) {
      const reason = storageErrorOf(error, path)
      for (const job of jobs) job.reject(reason)
    }
  }

  /** @throws an error of SQLite, `busy` while another connection holds the file; what `beforeBegin` throws */
  function begin(): void {
    options.beforeBegin?.()
    // A second sync does not write pages again that a failed one has dropped. So the log goes into the database file first.
    if (log.isDoubtful()) {
      const [[isBusy] = [1]] = connection.query({ sql: 'PRAGMA wal_checkpoint(TRUNCATE)', values: [] })
      if (isBusy !== 0)
        throw Object.assign(new Error('the log cannot be emptied while a reader is open'), { errcode: sqliteBusy })
      log.begunAnew()
    }
    connection.run('BEGIN IMMEDIATE')
    options.begun?.()
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
  async function runOne(job: Job): Promise<JobResult> {
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
