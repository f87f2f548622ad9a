/** Runs the statements of transactions that write to a SQLite file. */
import { setImmediate } from 'node:timers/promises'
import { partsOf } from '../../../lib/outbox/parts.ts'
import type { Connection } from '../../sql/sqlite/connection.ts'
import { sqliteDialect } from '../../sql/sqlite/dialect.ts'
import { statementsOf } from '../../sql/statements.ts'
import type { Writer } from '../sql/session.ts'
import type { AppendedRecords } from './appended.ts'
import { requireTransaction } from './snapshot.ts'

export const statements = statementsOf(sqliteDialect)

/** The parts of the storage's own writer, which commits in groups. A host's connection has none of them. */
export interface GroupParts {
  /** Called with each table of which rows change; without one where it is unknown which. */
  changes(table?: string): void
  readonly appended: AppendedRecords
}

/** Statements and records after which others have a turn of the event loop: they take some milliseconds, and few requests have as many. */
const enoughInTurn = 250

export function groupWriterOn(connection: Connection, { changes, appended }: GroupParts): Writer {
  let inTurn = 0

  /** Gives a result back; now and then a turn later, so that work on thousands of rows does not hold up the whole process. */
  function inTurns<T>(result: T, done = 1): T | Promise<T> {
    inTurn += done
    if (inTurn < enoughInTurn) return result
    inTurn = 0
    return setImmediate(result)
  }

  return {
    native() {
      changes()
      return connection.database
    },
    query(statement) {
      requireTransaction(connection)
      if (statement.writes) changes(statement.writes)
      return inTurns(connection.query(statement))
    },
    attempt(statement, table) {
      requireTransaction(connection)
      changes(table.name)
      return inTurns(connection.attempt(statement, table))
    },
    insert(statement) {
      requireTransaction(connection)
      changes(statement.writes)
      return inTurns(connection.change(statement) > 0)
    },
    append(records) {
      requireTransaction(connection)
      changes('outbox')
      appended.add(records)
      return inTurns(undefined, records.length)
    },
  }
}

/** A writer in a transaction that another writer has open. */
export function writerOn(connection: Connection): Writer {
  return {
    native: () => connection.database,
    query(statement) {
      requireTransaction(connection)
      return connection.query(statement)
    },
    attempt(statement, table) {
      requireTransaction(connection)
      return connection.attempt(statement, table)
    },
    insert(statement) {
      requireTransaction(connection)
      return connection.change(statement) > 0
    },
    append(records) {
      requireTransaction(connection)
      for (const part of partsOf(records)) connection.change(statements.append(part))
    },
  }
}
