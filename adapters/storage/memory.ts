/** The storage for tests and for trying things out: everything is in memory and gone with the process. It runs in browsers, too. */
import '../../lib/base/supported-runtime.ts'
import * as v from 'valibot'
import type { OutboxWriter, Storage } from '../../lib/storage/contract.ts'
import { checkOptions, outboxWriter } from '../options.ts'
import { tablesInMemory } from './in-memory/tables.ts'
import { outboxOf, transactionsInMemory } from './in-memory/transactions.ts'

const rules = { outbox: v.optional(outboxWriter) }

/**
 * Opens an empty storage in memory. In a browser nothing detects a transaction inside of another one, which waits for ever there.
 *
 * @param options `outbox`: where the records of commits go. The storage owns it from now on and closes it with itself.
 *   Without one, records are thrown away.
 * @returns a storage whose transactions reject with what `outbox.append` rejected with, after they were undone, and with
 *   StorageError `closed` once it is closed
 * @throws TypeError that lists every option that is malformed or unknown
 */
export function memoryStorage(options: { readonly outbox?: OutboxWriter } = {}): Storage {
  const { outbox } = checkOptions('memoryStorage', rules, options, '{ outbox }')
  if (!outbox) return transactionsInMemory(tablesInMemory())
  return transactionsInMemory(tablesInMemory(), {
    ...outboxOf(outbox),
    async persist(group) {
      const commits = group.map(({ records }) => records).filter((records) => records.length > 0)
      if (commits.length > 0) await outbox.append(commits)
    },
    close: () => outbox.close(),
  })
}
