/** Transactions inside of one that the host has open. */
import { isStorageError, type Storage, StorageError } from '../../../lib/storage/contract.ts'
import type { PgClient } from '../../sql/postgres/connection.ts'
import { faultOf, storageErrorOf } from '../../sql/postgres/errors.ts'
import { send, sendScript } from '../../sql/postgres/wire/send.ts'
import { nestedStorage } from '../sql/nested-storage.ts'
import { runIn, transactionOn } from './transaction.ts'
import type { Language } from './transaction-sender.ts'

const noClient = '`using` needs the client of `pg` on which the transaction is open, as `pool.connect()` returns it'

/**
 * @param client the host's connection, inside a transaction
 * @throws TypeError if it is something else, such as the transaction of a query builder. Work throws it where that shows later
 */
export function nestedIn(client: PgClient, language: Language): Storage {
  if (typeof client?.query !== 'function') throw new TypeError(noClient)
  return nestedStorage(client, async (work, readOnly) => {
    const begun = await send(client, 'SAVEPOINT folkmoot').catch((error: unknown) => {
      if (faultOf(error) !== 'outside') throw storageErrorOf(error)
      throw new TypeError('`using` needs a transaction that is open: run BEGIN on that client first', { cause: error })
    })
    // Query builders have a method `query`, too, and return another form.
    if (!Array.isArray(begun?.rows)) throw new TypeError(noClient)
    try {
      const transaction = transactionOn({ client, begun: Promise.resolve({ client }) }, language)
      const value = await runIn(transaction, language, readOnly, work)
      await transaction.endWith('RELEASE folkmoot').catch((error: unknown) => {
        throw storageErrorOf(error)
      })
      return value
    } catch (error) {
      await sendScript(client, 'ROLLBACK TO folkmoot; RELEASE folkmoot').catch(() => {
        // The host's whole transaction is gone, so running this part of it again would not help.
        if (!isStorageError(error) || error.code !== 'conflict') return
        throw new StorageError('unavailable', "the host's transaction was lost; run all of it again", { cause: error })
      })
      throw error
    }
  })
}
