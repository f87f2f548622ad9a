/** Transactions inside of one that the host has open, one after another. */
import { isStorageError, type Storage, StorageError, type Tx } from '../../../lib/storage/contract.ts'
import { type PgClient, send } from '../../sql/postgres/client.ts'
import { faultOf, storageErrorOf } from '../../sql/postgres/errors.ts'
import { nestingIn } from '../nesting.ts'
import { inSession, type Language, transactionOn } from './transaction.ts'

/** @param client the host's connection, inside a transaction */
export function joined(client: PgClient, language: Language): Storage {
  const nesting = nestingIn()
  let last: Promise<unknown> = Promise.resolve()

  async function savepoint(): Promise<void> {
    try {
      await send(client, 'SAVEPOINT folkmoot')
    } catch (error) {
      if (faultOf(error) === 'outside')
        throw new StorageError('closed', '`using` needs a transaction that is open: run BEGIN on that client first')
      throw storageErrorOf(error)
    }
  }

  async function run<T>(work: (tx: Tx) => Promise<T>, readOnly: boolean): Promise<T> {
    await savepoint()
    try {
      const transaction = transactionOn(client, language)
      const value = await inSession(transaction, language, readOnly, work)
      await transaction.endWith('RELEASE folkmoot').catch((error: unknown) => {
        throw storageErrorOf(error)
      })
      return value
    } catch (error) {
      await send(client, 'ROLLBACK TO folkmoot; RELEASE folkmoot').catch(() => {
        // The host's whole transaction is gone, so running this part of it again would not help.
        if (!isStorageError(error) || error.code !== 'conflict') return
        throw new StorageError('unavailable', "the host's transaction was lost; run all of it again", { cause: error })
      })
      throw error
    }
  }

  return {
    async transaction(work, { readOnly = false } = {}) {
      nesting.refuse()
      const entering = nesting.entering(work)
      const turn = last.then(() => run(entering, readOnly))
      last = turn.catch(() => undefined)
      return turn
    },
    close: async () => {},
  }
}
