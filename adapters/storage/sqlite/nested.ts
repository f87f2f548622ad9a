/** A storage whose transactions are savepoints of one that a host has open on a SQLite file. */
import type { DatabaseSync } from 'node:sqlite'
import type { Storage } from '../../../lib/storage/contract.ts'
import { connectionOver } from '../../sql/sqlite/connection.ts'
import type { Statement } from '../../sql/statement.ts'
import { nestedStorage } from '../sql/nested-storage.ts'
import { inSession } from '../sql/session.ts'
import { statements, writerOn } from './writer.ts'

/**
 * @param database a host's connection, inside a transaction
 * @param path the file, for messages
 * @param watch called with every statement, for tests
 * @throws TypeError if it is something else, such as a connection of another package
 */
export function nestedIn(database: DatabaseSync, path: string, watch?: (statement: Statement) => void): Storage {
  if (typeof database?.isTransaction !== 'boolean')
    throw new TypeError('`using` needs the `DatabaseSync` of `node:sqlite` on which the transaction is open')
  const connection = connectionOver(database, path, watch)
  const writer = writerOn(connection)
  return nestedStorage(database, async (work, readOnly) => {
    if (!database.isTransaction)
      throw new TypeError('`using` needs a transaction that is open: run BEGIN IMMEDIATE on that database first')
    connection.run('SAVEPOINT folkmoot')
    try {
      const value = await inSession(writer, readOnly ? undefined : writer, statements, work)
      connection.run('RELEASE folkmoot')
      return value
    } catch (error) {
      if (database.isTransaction) {
        connection.run('ROLLBACK TO folkmoot')
        connection.run('RELEASE folkmoot')
      }
      throw error
    }
  })
}
