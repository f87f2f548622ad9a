/** Opens the SQLite file of the relay store. */
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from '../../../../adapters/sql/sqlite/module.ts'
import { StorageError } from '../../../../lib/storage/contract.ts'
import { migrations, schema, schemaVersion } from './schema.ts'

/** Milliseconds to wait while another process (a replay from the command line) writes. */
const patience = 5000

/**
 * Opens or creates the file, with mode 0600; the write-ahead files beside it take after it.
 * @throws StorageError `newer` when a later version wrote it, `damaged` when it is not a relay store, `unavailable`
 */
export function openDatabase(path: string): DatabaseSync {
  let database: DatabaseSync | undefined
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'a', 0o600))
    database = new DatabaseSync(path, { timeout: patience })
    prepare(database, path)
    return database
  } catch (error) {
    database?.close()
    if (error instanceof StorageError) throw error
    const message = error instanceof Error ? error.message : String(error)
    const damaged = message.includes('not a database') || message.includes('malformed')
    throw new StorageError(damaged ? 'damaged' : 'unavailable', `relay store ${path} cannot be opened: ${message}`, {
      cause: error,
    })
  }
}

/** The version of the tables. @throws StorageError `newer` */
export function checkVersion(database: DatabaseSync, path: string): number {
  const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0)
  if (version <= schemaVersion) return version
  const text = `relay store ${path} was written by a newer version (${version}, this one supports ${schemaVersion})`
  throw new StorageError('newer', text)
}

function prepare(database: DatabaseSync, path: string): void {
  const version = checkVersion(database, path)
  if (version === 0) database.exec('PRAGMA auto_vacuum = INCREMENTAL')
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000')
  if (version < schemaVersion)
    inTransaction(database, () => {
      // Another process may have been quicker.
      const now = Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0)
      if (now === 0) database.exec(schema)
      else for (let from = now; from < schemaVersion; from++) database.exec(migrations[from] ?? '')
      database.exec(`PRAGMA user_version = ${schemaVersion}`)
    })
}

/** Runs work in one transaction, or in none at all. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}
