/** The SQLite file of a relay's store. */
import { accessSync, constants, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeDirectory } from '../../../../adapters/files/directory.ts'
import { bytesLeft } from '../../../../adapters/files/disk.ts'
import { fileError, isReadOnly } from '../../../../adapters/files/errors.ts'
import { isRecordsFault } from '../../../../adapters/sql/faults.ts'
import { refuseNewer } from '../../../../adapters/sql/migrations.ts'
import { sqliteDialectOf } from '../../../../adapters/sql/sqlite/dialect.ts'
import { faultOf, storageErrorOf } from '../../../../adapters/sql/sqlite/errors.ts'
import { logBytesKept, makeFile } from '../../../../adapters/sql/sqlite/file.ts'
import { existingIn, migrateFile, requireMigratedFile } from '../../../../adapters/sql/sqlite/migrate.ts'
import { DatabaseSync } from '../../../../adapters/sql/sqlite/module.ts'
import { type PreparedStatement, prepared } from '../../../../adapters/sql/sqlite/old-node.ts'
import { openReadOnly } from '../../../../adapters/sql/sqlite/read-only.ts'
import { StorageError } from '../../../../lib/storage/contract.ts'
import { begin, type Plan, type RelayDatabase, type Rows, runAtOnce, type Statement } from '../database.ts'
import { remedy, schemaOf } from '../schema.ts'
import { insertEventsInto } from './events.ts'

/** Milliseconds to wait while another process (a resend from the command line) writes. */
const timeoutMs = 5000
/** A checkpoint comes after so many pages of the log. Most are the same ones, so a later one copies and syncs less. */
const checkpointPages = 4000
const dialect = sqliteDialectOf('')
const schema = schemaOf(dialect)

export interface SqliteDatabase extends RelayDatabase {
  readonly connection: DatabaseSync
  /** Does work in one synchronous transaction. */
  transactionNow<T>(work: () => T): T
  /** Reads several times in one snapshot, synchronously. Each statement by itself would lock the file. */
  snapshotNow<T>(work: () => T): T
  /** Runs a plan inside of such work. */
  run<T>(plan: Plan<T>): T
  logBytes(): number
  /** Moves the write-ahead log into the file and gives its space back, as far as no reader needs it. Never waits. */
  emptyLog(): void
}

/**
 * Opens or creates the file, with mode 0600; its write-ahead files get the same mode. Tables of earlier versions are migrated.
 * @throws StorageError `newer` when a later version wrote it, `damaged` when it is not a relay store, `unavailable`, `full`
 */
export async function openDatabase(path: string): Promise<SqliteDatabase> {
  let connection: DatabaseSync | undefined
  try {
    makeDirectory(dirname(path))
    makeFile(path)
    connection = new DatabaseSync(path, { timeout: timeoutMs })
    const existing = existingIn(connection, dialect)
    refuseNewer(schema, existing, `the relay's store ${path}`)
    // It counts for a file that has no tables yet. Every other file would be written by it, which a full disk refuses.
    if (existing.tables.size === 0) connection.exec('PRAGMA auto_vacuum = INCREMENTAL')
    connection.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000;
       PRAGMA secure_delete = ON; PRAGMA wal_autocheckpoint = ${checkpointPages}; PRAGMA journal_size_limit = ${logBytesKept}`,
    )
    await migrateFile(connection, dialect, schema, `the relay's store ${path}`)
    // Programs before version 6 look for the version here, and nowhere else.
    if (userVersion(connection) < schema.version) connection.exec(`PRAGMA user_version = ${schema.version}`)
    const database = databaseOver(connection, path)
    await database.transaction(begin)
    return database
  } catch (error) {
    connection?.close()
    throw storageErrorOf(error, `the relay's store ${path}`)
  }
}

/** Opens the file to read alone: nothing is made or changed. @throws StorageError `newer`, `unavailable` when it is to be migrated first */
export async function openDatabaseReadOnly(path: string): Promise<SqliteDatabase> {
  let connection: DatabaseSync | undefined
  try {
    connection = openReadOnly(path)
    await requireMigratedFile(connection, dialect, schema, `the relay's store ${path}`, remedy)
    return databaseOver(connection, path)
  } catch (error) {
    connection?.close()
    throw storageErrorOf(error, `the relay's store ${path}`)
  }
}

/** Refuses a file system that is read-only or full: a relay with nothing to send would not notice. @throws StorageError */
export function refuseUnwritable(path: string): void {
  try {
    accessSync(path, constants.W_OK)
    if (bytesLeft(path) === 0) throw new StorageError('full', `the relay's store ${path}: its disk is full: make space`)
  } catch (error) {
    if (error instanceof StorageError || isReadOnly(error)) throw fileError(`the relay's store ${path}`, error)
  }
}

const userVersion = (connection: DatabaseSync): number =>
  Number(connection.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0)

function databaseOver(connection: DatabaseSync, path: string): SqliteDatabase {
  const statements = new Map<string, PreparedStatement>()

  function prepare(sql: string): PreparedStatement {
    const known = statements.get(sql)
    if (known) return known
    const statement = prepared(connection, sql.replaceAll('$schema.', ''))
    statements.set(sql, statement)
    return statement
  }

  function execute({ sql, values }: Statement): Rows {
    // Lists are one text: see `Dialect.list`.
    return prepare(sql).all(
      ...values.map((value) => (typeof value === 'boolean' ? Number(value) : (value as string | number | null))),
    )
  }

  const run = <T>(plan: Plan<T>): T => runAtOnce(plan, execute)

  function inside<T>(begin: 'BEGIN' | 'BEGIN IMMEDIATE', work: () => T): T {
    connection.exec(begin)
    try {
      const result = work()
      connection.exec('COMMIT')
      return result
    } catch (error) {
      if (connection.isTransaction) connection.exec('ROLLBACK')
      throw error
    }
  }
  const transactionNow = <T>(work: () => T): T => inside('BEGIN IMMEDIATE', work)

  return {
    dialect,
    connection,
    transactionNow,
    snapshotNow: (work) => inside('BEGIN', work),
    run,
    logBytes: () => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    emptyLog() {
      connection.exec('PRAGMA busy_timeout = 0')
      try {
        connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      } finally {
        connection.exec(`PRAGMA busy_timeout = ${timeoutMs}`)
      }
    },
    transaction: async (plan) => transactionNow(() => run(plan())),
    read: async (plan) => run(plan()),
    isRecordsFault: (error) => isRecordsFault(error, faultOf(error)),
    insertEvents: insertEventsInto(connection),
    // The one relay of this file finds changes of others by themselves.
    *touch() {},
    *defined() {},
    *removed() {},
    // And one transaction writes at a time.
    *holdRelays() {},
    async close() {
      if (connection.isOpen) connection.close()
    },
  }
}
