import type { Storage, Tx } from '../../lib/storage/contract.ts'

/** A storage whose methods a test replaces; the others are those of the storage behind it. */
export function wrappedStorage(
  storage: Storage,
  changes: { readonly transaction?: Storage['transaction']; readonly tx?: (tx: Tx) => Partial<Tx> },
): Storage {
  const whole = (tx: Tx): Tx => ({
    get: (table, id) => tx.get(table, id),
    find: (table, query) => tx.find(table, query),
    count: (table, query) => tx.count(table, query),
    insert: (table, row) => tx.insert(table, row),
    update: (table, id, patch, guard) => tx.update(table, id, patch, guard),
    increment: (table, id, by, guard) => tx.increment(table, id, by, guard),
    remove: (table, id, guard) => tx.remove(table, id, guard),
    lock: (table, id, strength) => tx.lock(table, id, strength),
    append: (records) => tx.append(records),
    native: tx.native,
    ...changes.tx?.(tx),
  })
  const close = () => storage.close()
  if (changes.transaction) return { transaction: changes.transaction, close }
  return {
    transaction: (work, options) => storage.transaction((tx) => work(whole(tx)), options),
    close,
  }
}
