/** The committed state at one moment, as one connection keeps seeing it. */
import { StorageError } from '../../../lib/storage/contract.ts'
import type { Connection } from '../../sql/sqlite/connection.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Rows } from '../sql/session.ts'
import type { Snapshot } from '../sql/snapshots.ts'
import type { Readers } from './readers.ts'
import type { UnsyncedCommits } from './unsynced.ts'

/** @throws StorageError when SQLite has ended the transaction of this connection by itself */
export function requireTransaction({ database }: Connection): void {
  if (!database.isTransaction) throw new StorageError('unavailable', 'SQLite has rolled back the transaction')
}

/**
 * Begins a snapshot.
 * @param connection of `readers`, which get it back
 * @throws StorageError
 */
export function snapshotOn(connection: Connection, readers: Readers, unsynced: UnsyncedCommits): Snapshot {
  try {
    connection.run('BEGIN')
  } catch (error) {
    readers.giveBack(connection)
    throw error
  }
  return new SqliteSnapshot(connection, readers, unsynced)
}

// A class, not an object of closures: one is made for every turn of the event loop.
class SqliteSnapshot implements Snapshot {
  readonly unsynced: UnsyncedCommits['of']
  readonly #connection: Connection
  readonly #readers: Readers

  constructor(connection: Connection, readers: Readers, unsynced: UnsyncedCommits) {
    this.unsynced = unsynced.of
    this.#connection = connection
    this.#readers = readers
  }

  native(): unknown {
    return this.#connection.database
  }

  query(statement: Statement): Rows {
    requireTransaction(this.#connection)
    return this.#connection.query(statement)
  }

  end(): void {
    // SQLite ends a transaction by itself when it must give it up.
    if (this.#connection.database.isTransaction) this.#connection.run('COMMIT')
    this.#readers.giveBack(this.#connection)
  }
}
