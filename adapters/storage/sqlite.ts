/**
 * The storage for one machine: a SQLite file, through `node:sqlite`. Rows are in real columns, events in a table next to them,
 * both in one transaction. Any number of processes may open the file; one of them writes at a time.
 */
import '../node-version.ts'
import { resolve } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import * as v from 'valibot'
import { isStorageError, type Storage } from '../../lib/storage/contract.ts'
import { tables as allTables } from '../../lib/storage/tables.ts'
import { anything, callable, checkOptions, flag, positive, type RulesOf, sqlitePath, withMethods } from '../options.ts'
import { openConnection } from '../sql/sqlite/connection.ts'
import { sqliteDialect } from '../sql/sqlite/dialect.ts'
import { storageErrorOf } from '../sql/sqlite/errors.ts'
import { watchFile } from '../sql/sqlite/file.ts'
import { migrateFile, requireMigratedFile } from '../sql/sqlite/migrate.ts'
import type { Statement } from '../sql/statement.ts'
import type { TableShape } from '../sql/values.ts'
import { nestingIn } from './nesting.ts'
import { runningWork } from './sql/running-work.ts'
import { storageSchema } from './sql/schema.ts'
import { inSession } from './sql/session.ts'
import { sharedSnapshots } from './sql/snapshots.ts'
import { sqlStorage } from './sql/storage.ts'
import { appendedRecords } from './sqlite/appended.ts'
import { groupCommits } from './sqlite/group-commits.ts'
import { type LogFile, logOver, openLogFile } from './sqlite/log.ts'
import { nestedIn } from './sqlite/nested.ts'
import { readersWith } from './sqlite/readers.ts'
import { snapshotOn } from './sqlite/snapshot.ts'
import { unsyncedTables } from './sqlite/unsynced.ts'
import { versionOf } from './sqlite/version.ts'
import { groupWriterOn, statements } from './sqlite/writer.ts'

export { migrateSqlite, type SqliteMigration } from './sqlite/migrate.ts'
export { sqliteOutbox } from './sqlite/outbox.ts'

/** The options of `sqliteStorage`. */
export interface SqliteOptions {
  /** The file. It is created with mode 0600 if it is missing. */
  readonly path?: string
  /** A host's own open database instead of `path`. The storage opens its own connections to the file. */
  readonly database?: DatabaseSync
  /** Whether the storage creates missing tables, columns and indexes when it opens. Default true; if false they are refused. */
  readonly migrate?: boolean
  /** Milliseconds to wait while another process writes, before `unavailable`. Default 5,000. */
  readonly busyTimeoutMs?: number
  /** Other tables than those of the API, for tests. */
  readonly tables?: readonly TableShape[]
  /** Called with every statement, for tests. */
  readonly onStatement?: (statement: Statement) => void
  /** Opens the file's write-ahead log to sync it, for tests. */
  readonly openLog?: typeof openLogFile
}

/** A storage in a SQLite file. */
export interface SqliteStorage extends Storage {
  /**
   * A storage whose transactions are part of one that the host has open on its own connection. The host's rows, the API's rows
   * and the events commit together, when the host commits. Each is a savepoint there, so one that throws undoes only itself.
   * Closing it does nothing.
   *
   * @param database the host's connection to the same file, inside a transaction (`BEGIN IMMEDIATE`)
   */
  using(database: DatabaseSync): Storage
  /**
   * Runs work while this storage has no transaction open. Around a host's own `BEGIN IMMEDIATE` … `COMMIT` on another
   * connection of this process: without it the two may meet each other's lock.
   * @throws what `work` throws
   */
  exclusive<T>(work: () => Promise<T>): Promise<T>
}

/**
 * Pages of the write-ahead log, of 4 KiB, after which SQLite moves them into the file. A page that changes again and again is moved
 * once. With 1,000, the default of SQLite, that costs as much as the writes themselves.
 */
const checkpointPages = 4_000
/** Reads that share a snapshot at most, so that their results are not all in memory together. */
const maxReads = 64

/** Tables of which a transaction changes rows. */
class Changed {
  readonly #names = new Set<string>()
  #isAny = false

  add(table: string | undefined): void {
    if (table === undefined) this.#isAny = true
    else this.#names.add(table)
  }

  get tables(): ReadonlySet<string> | 'any' {
    return this.#isAny ? 'any' : this.#names
  }
}

const rules = {
  path: v.optional(sqlitePath),
  database: v.optional(withMethods<DatabaseSync>(['location'], 'new DatabaseSync(path) of node:sqlite has')),
  migrate: v.optional(flag, true),
  busyTimeoutMs: v.optional(positive, 5_000),
  tables: v.optional(anything<readonly TableShape[]>(), allTables),
  onStatement: v.optional(callable<NonNullable<SqliteOptions['onStatement']>>()),
  openLog: v.optional(callable<NonNullable<SqliteOptions['openLog']>>(), () => openLogFile),
} satisfies RulesOf<SqliteOptions>

/**
 * Opens a SQLite file, and creates missing parts in it.
 *
 * @throws StorageError `damaged` if it is not a whole SQLite database (it is left alone), `newer` if a newer version has
 * migrated it, `full`, `unavailable`
 * @throws TypeError when neither `path` nor a `database` in a file is given
 */
export async function sqliteStorage(options: SqliteOptions): Promise<SqliteStorage> {
  const checked = checkOptions('sqliteStorage', rules, options, "{ path: './data/db.sqlite' }")
  const { migrate, busyTimeoutMs, tables, onStatement: watch, openLog } = checked
  const path = fileOf(options)
  const connection = openConnection(path, { watch })
  let logFile: LogFile | undefined
  try {
    const prepare = migrate ? migrateFile : requireMigratedFile
    await prepare(connection.database, sqliteDialect, storageSchema(sqliteDialect, tables), path)
    logFile = await openLog(path)
    connection.run(`PRAGMA wal_autocheckpoint = ${checkpointPages}`)
    if (logFile) connection.run('PRAGMA synchronous = NORMAL')
  } catch (error) {
    connection.close()
    throw storageErrorOf(error, path)
  }
  const log = logOver(logFile, path)
  const unsynced = unsyncedTables()
  const version = versionOf(connection)
  /** Whether others have committed since a group of this process was synced. */
  const othersToSync = version.watch()
  /** The tables that the open group has changed. */
  let grouped = new Changed()
  const appended = appendedRecords((records) => connection.change(statements.append(records)))
  const groups = groupCommits({
    ...{ connection, path, log, busyTimeoutMs },
    beforeBegin: watchFile(path),
    begun: appended.groupBegun,
    beforeCommit: appended.write,
    sync() {
      const { tables } = grouped
      grouped = new Changed()
      // It may have seen a commit that is not on the disk: of another group, or of another process.
      if (tables !== 'any' && tables.size === 0) return othersToSync() ? log.synced() : log.pending()
      const synced = log.synced()
      unsynced.committed(tables, synced)
      return synced
    },
  })
  const readers = readersWith(() => openConnection(path, { readOnly: true, watch }))
  const open = async () => snapshotOn(await readers.take(), readers, unsynced)
  const nesting = nestingIn()
  const snapshots = sharedSnapshots({ open, maxReads, statements, nesting })
  /** The tables that the transaction changes which runs now: they run one at a time. */
  let changed = new Changed()
  const changes = (table?: string) => {
    changed.add(table)
    grouped.add(table)
  }
  const writer = groupWriterOn(connection, { changes, appended })
  const work = runningWork()
  const inExclusive = nestingIn(
    'a write inside `exclusive` would wait for itself. Write through `using`, or begin it after `exclusive` ends',
  )
  return {
    ...sqlStorage({
      ...{ work, nesting, snapshots, fast: { version: version.now }, holdsSnapshots: true },
      async write(task) {
        inExclusive.refuse()
        const own = new Changed()
        const begin = async () => {
          changed = own
          appended.begun()
          const value = await inSession(writer, writer, statements, task)
          appended.ended()
          return value
        }
        try {
          const value = await groups.transaction(begin)
          version.committed(own.tables)
          return value
        } catch (error) {
          // Its rows may be there.
          if (isStorageError(error) && error.code === 'unknown') version.committed(own.tables)
          throw error
        }
      },
      async end() {
        readers.close()
        version.close()
        await log.close()
        connection.close()
      },
    }),
    outbox: `sqlite:${resolve(path)}`,
    exclusive: (task) =>
      work.run(async () => {
        nesting.refuse()
        inExclusive.refuse()
        try {
          return await groups.exclusive(inExclusive.entering(task))
        } finally {
          version.again()
        }
      }),
    using(database) {
      version.share()
      return nestedIn(database, path, watch)
    },
  }
}

function fileOf({ path, database }: SqliteOptions): string {
  if (path !== undefined && database) throw new TypeError('sqliteStorage: give option `path` or `database`, not both')
  const file = path ?? database?.location()
  if (!file)
    throw new TypeError(
      'sqliteStorage: option `path` must name a file, or `database` be one in a file; for memory there is `memoryStorage`',
    )
  return resolve(file)
}
