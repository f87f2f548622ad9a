/** One connection to a SQLite file: its settings, its prepared statements, its errors. */
import { dirname } from 'node:path'
import { makeDirectory } from '../../files/directory.ts'
import type { Statement } from '../statement.ts'
import type { TableShape } from '../values.ts'
import { storageErrorOf, uniqueViolationOf } from './errors.ts'
import { logBytesKept, makeFile } from './file.ts'
import { DatabaseSync } from './module.ts'
import { type PreparedStatement, prepared } from './old-node.ts'

/** Prepared statements that a connection keeps; the API has some hundreds. */
const maxStatements = 1000
/** Milliseconds that SQLite itself waits for a lock. It holds up the whole process, so longer waits are not left to it. */
const briefly = 10

/** Lists are written out for SQLite, so every parameter is a plain value. */
type Plain = (string | number | null)[]

export interface Connection {
  readonly database: DatabaseSync
  /** The rows of a statement. @throws StorageError */
  query(statement: Statement): (readonly unknown[])[]
  /** How many rows a statement changed. @throws StorageError */
  change(statement: Statement): number
  /** The rows of a statement, where a key of `table` may be violated. @throws UniqueViolation, StorageError */
  attempt(statement: Statement, table: TableShape): (readonly unknown[])[]
  /** A statement without parameters and without rows. */
  run(sql: string): void
  close(): void
}

/**
 * Statements over a database handle.
 * @param watch called with every statement, for tests
 */
export function connectionOver(database: DatabaseSync, path: string, watch?: (statement: Statement) => void): Connection {
  const statements = new Map<string, PreparedStatement>()

  function prepare(sql: string): PreparedStatement {
    const known = statements.get(sql)
    if (known) return known
    const statement = prepared(database, sql, true)
    for (const [oldest] of statements) {
      if (statements.size < maxStatements) break
      statements.delete(oldest)
    }
    statements.set(sql, statement)
    return statement
  }

  /** @throws what `failed` makes of an error of SQLite */
  function all({ sql, values }: Statement, failed: (error: unknown) => unknown): (readonly unknown[])[] {
    watch?.({ sql, values })
    try {
      return prepare(sql).all(...(values as Plain)) as unknown as (readonly unknown[])[]
    } catch (error) {
      throw failed(error)
    }
  }

  const known = (error: unknown) => storageErrorOf(error, path)

  return {
    database,
    query: (statement) => all(statement, known),
    attempt: (statement, table) => all(statement, (error) => uniqueViolationOf(error, table) ?? known(error)),
    change({ sql, values }) {
      watch?.({ sql, values })
      try {
        return Number(prepare(sql).run(...(values as Plain)).changes)
      } catch (error) {
        throw known(error)
      }
    },
    run(sql) {
      // Not by `run`: it makes an object of counts.
      prepare(sql).get()
    },
    close() {
      if (database.isOpen) database.close()
    },
  }
}

/**
 * Opens a file. It is created with mode 0600 if it is missing, and the files next to it get the same mode.
 * @throws StorageError `damaged` when it is no SQLite database, `unavailable`, `full`
 */
export function openConnection(
  path: string,
  {
    readOnly = false,
    watch,
  }: { readonly readOnly?: boolean; readonly watch?: ((statement: Statement) => void) | undefined } = {},
): Connection {
  let database: DatabaseSync | undefined
  try {
    if (!readOnly) {
      makeDirectory(dirname(path))
      makeFile(path)
    }
    database = new DatabaseSync(path, { timeout: briefly, readOnly })
    // FULL: a commit is on the disk when it returns. WAL: readers are not blocked by a writer.
    if (!readOnly) database.exec(`PRAGMA journal_mode = WAL; PRAGMA journal_size_limit = ${logBytesKept}`)
    // What is removed or changed is overwritten with zeros, so that nothing of an erased person stays in the file.
    database.exec('PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000; PRAGMA secure_delete = ON')
    // The first read of the file: only now is it known to be a database.
    database.prepare('SELECT count(*) FROM sqlite_schema').get()
    return connectionOver(database, path, watch)
  } catch (error) {
    database?.close()
    throw storageErrorOf(error, path)
  }
}
