/**
 * The storage for one process and a small community: one JSON file, read once and then worked on in memory.
 *
 * Every commit writes the whole file, and commits that come together share one write. That is quick for a thousand members
 * and slow for ten thousand: past 16 MiB it warns, and SQLite is the better choice.
 */
import * as v from 'valibot'
import '../node-version.ts'
import { dirname, resolve } from 'node:path'
import { Low } from 'lowdb'
import { isStorageError, type OutboxWriter, type Storage, StorageError } from '../../lib/storage/contract.ts'
import { makeDirectory } from '../files/directory.ts'
import { fileError } from '../files/errors.ts'
import { type FileSystem, nodeFileSystem } from '../files/file-system.ts'
import { acquireLock, type ProcessLock } from '../files/process-lock.ts'
import { anything, callable, checkOptions, outboxWriter, pathOf, positive, type RulesOf } from '../options.ts'
import { tablesInMemory } from './in-memory/tables.ts'
import { outboxOf, transactionsInMemory } from './in-memory/transactions.ts'
import { type Document, format, parseDocument } from './lowdb/document.ts'
import { pendingRecords } from './lowdb/pending.ts'
import { syncedFile } from './lowdb/synced-file.ts'

/** The size of the file, in bytes, above which lowdb is the wrong choice: a commit then takes a tenth of a second and more. */
const lowdbComfortableBytes = 16 * 1024 * 1024

/** The options of `lowdbStorage`. */
export interface LowdbOptions {
  /** The file. The first commit creates it with mode 0600; its directory is created immediately. */
  readonly path: string
  /** Receives the records of commits. The open storage owns it, and closes it with itself. */
  readonly outbox: OutboxWriter
  /** Called with warnings for an operator: the file has become large, events wait for the outbox. Default `console.warn`. */
  readonly warn?: (message: string) => void
  /** Milliseconds between retries of events that the outbox refused. Default 5,000. */
  readonly retryMs?: number
  /** For tests. */
  readonly files?: FileSystem
}

const rules = {
  path: pathOf('a file'),
  outbox: outboxWriter,
  warn: v.optional(callable<NonNullable<LowdbOptions['warn']>>(), () => console.warn),
  retryMs: v.optional(positive, 5_000),
  files: v.optional(anything<FileSystem>(), nodeFileSystem),
} satisfies RulesOf<LowdbOptions>

/**
 * Opens a lowdb file, or begins an empty one. The file belongs to this process until the storage is closed.
 *
 * @throws StorageError `locked` if another process has it open, `newer` if a newer version wrote it. `damaged` if it is not a
 * folkmoot file or not whole; it is left alone. `full` or `unavailable` if it cannot be opened. The outbox then stays the
 * caller's.
 */
export async function lowdbStorage(given: LowdbOptions): Promise<Storage> {
  const options = checkOptions('lowdbStorage', rules, given, "{ path: './data/db.json', outbox }")
  const lock = await hold(options.path)
  try {
    return await open(lock, options)
  } catch (error) {
    await lock.release()
    throw error
  }
}

async function hold(path: string): Promise<ProcessLock> {
  try {
    makeDirectory(dirname(resolve(path)))
    return await acquireLock(path, 'lowdb storage')
  } catch (error) {
    if (!isStorageError(error) || error.code !== 'locked') throw fileError(`${path} cannot be opened`, error)
    const remedy = error.message.includes('held by this process')
      ? 'a lowdb file is opened once: close the first storage, or keep it, on `globalThis` where a development server loads code again'
      : 'a lowdb file belongs to one process: use the API of that process, give each process its own file, or choose sqlite or postgres'
    throw new StorageError('locked', `${error.message}; ${remedy}`, { cause: error })
  }
}

async function open(lock: ProcessLock, { outbox, warn, retryMs, files }: Required<LowdbOptions>): Promise<Storage> {
  const { path } = lock
  const file = syncedFile(path, (bytes) => parseDocument(bytes, path), files)
  const low = new Low<Document>(file, { folkmoot: format, tables: {}, pending: [] })
  await low.read()
  await file.clean().catch((error) => {
    throw fileError(`${path}.tmp, left over from a crash, cannot be removed`, error)
  })

  const tables = tablesInMemory((name) => low.data.tables[name] ?? [])
  const pending = pendingRecords(outbox, { retryMs, warn: (message) => warn(`${path}: ${message}`) })
  /** A failed write may still have reached the file, so the file may hold changes that were undone in memory. */
  let uncertain = false
  let warned = false

  /** Writes the tables as they are now, before anything is awaited. Unused tables stay as they were read. */
  async function write(commits: Document['pending']) {
    const used = [...tables.used].map(([name, { rows }]) => [name, [...rows.values()]])
    low.data = { folkmoot: format, tables: { ...low.data.tables, ...Object.fromEntries(used) }, pending: commits }
    uncertain = true
    await low.write()
    uncertain = false
    warnOfSize()
  }

  function warnOfSize() {
    if (warned || file.size <= lowdbComfortableBytes) return
    warned = true
    const size = Math.round(file.size / 1024 / 1024)
    warn(`${path} has grown to ${size} MiB and every commit writes all of it; above 16 MiB choose sqlite or postgres`)
  }

  warnOfSize()
  // Records that a crash kept from the outbox, and perhaps others: receivers detect duplicates by event id.
  pending.add(low.data.pending)
  await pending.flush()

  return transactionsInMemory(tables, {
    ...outboxOf(outbox),
    async persist(group) {
      const added = group.map(({ records }) => records).filter((records) => records.length > 0)
      await write([...pending.commits, ...added])
      pending.add(added)
      await pending.flush()
    },

    async close() {
      try {
        await pending.flush()
        pending.stop()
        // Struck out now, so that the next start does not append them again.
        const stale = uncertain || low.data.pending.length > pending.commits.length
        if (stale) await write(pending.commits).catch((error) => warn(`${path} could not be tidied: ${error.message}`))
        await outbox.close()
      } finally {
        await lock.release()
      }
    },
  })
}
