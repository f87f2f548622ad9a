/** Several calls of the host in one transaction: quicker than each in its own, and a call that fails undoes only itself. */
import type { CommittedEvent } from '../../events/catalogue.ts'
import { refusingTrouble } from '../../kernel/storage-errors.ts'
import { retryOnConflict, type Transactions, transactionsOf } from '../../kernel/transactions.ts'
import type { Settings } from '../../settings.ts'
import type { Id } from '../../storage/table.ts'
import { UndoLog } from '../../storage/undo-log.ts'
import { storageIn } from '../preview.ts'

/**
 * Runs work in one transaction; after a lost race all of it runs again.
 * @param isQuiet whether no event goes out
 */
export type Together<Calls> = <T>(work: (calls: Calls, read: Transactions['read']) => Promise<T>, isQuiet?: boolean) => Promise<T>

/** @param callsOf makes the calls of a storage */
export const togetherOf =
  <Calls>(
    settings: Settings,
    { announce, newId }: Transactions,
    newLineId: () => Id,
    callsOf: (settings: Settings, transactions: Transactions, newLineId: () => Id) => Calls,
  ): Together<Calls> =>
  async (work, isQuiet = false) => {
    let events: CommittedEvent[] = []
    const result = await refusingTrouble(() =>
      retryOnConflict(() =>
        settings.storage.transaction(async (tx) => {
          events = []
          const { storage, end } = storageIn(tx, new UndoLog(isQuiet))
          const inside = { ...settings, storage }
          const joined = transactionsOf(inside, newId, (event) => events.push(event))
          try {
            return await work(callsOf(inside, joined, newLineId), joined.read)
          } finally {
            await end()
          }
        }),
      ),
    )
    if (!isQuiet) for (const event of events) announce(event)
    return result
  }
