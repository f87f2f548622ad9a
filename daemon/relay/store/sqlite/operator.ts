/** The SQLite store for an operator. */
import { statSync } from 'node:fs'
import { hostname } from 'node:os'
import { errorCode, isReadOnly } from '../../../../adapters/files/errors.ts'
import { StorageError } from '../../../../lib/storage/contract.ts'
import { NoRelayYet, UsageError } from '../../../usage.ts'
import { rows } from '../database.ts'
import { operatorStore } from '../operator/operator.ts'
import type { OperatorStore } from '../operator/operator-store.ts'
import { number, text } from '../rows.ts'
import { openDatabase, openDatabaseReadOnly, type SqliteDatabase } from './database.ts'

/**
 * Opens the store in a file.
 * @param running the process of the relay that works on it, if one does
 * @param looking nothing is made or changed, the version of the tables included
 * @throws UsageError when no relay has ever run there, or when it may not be read; StorageError
 */
export async function openSqliteOperator(
  path: string,
  running: () => Promise<{ readonly pid: number } | undefined>,
  looking = false,
): Promise<OperatorStore> {
  try {
    statSync(path)
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT') throw new NoRelayYet(`no relay has run on this outbox yet: ${path} does not exist`)
    throw new UsageError(`the relay's store ${path} cannot be read (${code}): run this as the user of the relay`)
  }
  const database = await (looking ? openDatabaseReadOnly(path) : openAsPossible(path))
  const query = (sql: string) => database.read(() => rows(sql))
  return operatorStore(database, {
    async relays() {
      const owner = await running()
      return owner ? [{ host: hostname(), pid: owner.pid }] : []
    },
    positions: async () =>
      Object.fromEntries(
        (await query('SELECT stream, position FROM positions')).map((each) => [text(each, 'stream'), number(each, 'position')]),
      ),
    problems: async () =>
      (await query('PRAGMA quick_check')).map((each) => text(each, 'quick_check')).filter((each) => each !== 'ok'),
  })
}

/** Opens a file for changes; to look alone if its file system has become read-only, which is when people look. */
async function openAsPossible(path: string): Promise<SqliteDatabase> {
  try {
    return await openDatabase(path)
  } catch (error) {
    if (!isReadOnly(error)) throw error
    const refused = new StorageError('unavailable', `the relay's store ${path} takes no changes: its file system is read-only`, {
      cause: error,
    })
    return {
      ...(await openDatabaseReadOnly(path)),
      transaction: () => Promise.reject(refused),
    }
  }
}
