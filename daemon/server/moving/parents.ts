/** The rows under whose ids a nested list is requested, in an order in which a pull can continue. */
import type { Storage } from '../../../lib/storage/contract.ts'
import { rowsOf } from '../../../lib/storage/rows-of.ts'
import { type ScopedTx, scoped } from '../../../lib/storage/scoped.ts'
import type { Id, Row } from '../../../lib/storage/table.ts'
import type { Parent } from './pull/stage.ts'

/** Reads of one network, each in its own transaction: the walk over a whole table takes long. */
export const readsOf = (storage: Storage, network_id: Id): Pick<ScopedTx, 'find'> => ({
  find: (table, query) => storage.transaction((tx) => scoped(tx, network_id).find(table, query), { readOnly: true }),
})

/**
 * Every combination of the rows of some tables: the first one changes last.
 * @param after the ids of the last combination; those up to it are left out
 */
export async function* parentsOf(
  tx: Pick<ScopedTx, 'find'>,
  parents: readonly Parent[],
  after: readonly Id[] | undefined,
): AsyncGenerator<readonly Row[], void, undefined> {
  const [first, ...rest] = parents
  if (!first) {
    yield []
    return
  }
  const [from, ...fromRest] = after ?? []
  if (from !== undefined && rest.length > 0) {
    const [last] = await tx.find(first.table, { where: { ...first.where, id: from } })
    if (last) for await (const others of parentsOf(tx, rest, fromRest)) yield [last, ...others]
  }
  for await (const row of rowsOf(tx, first.table, first.where, from === undefined ? {} : { after: from }))
    for await (const others of parentsOf(tx, rest, undefined)) yield [row, ...others]
}

export async function* chunksOf<T>(all: AsyncIterable<T>, size: number): AsyncGenerator<T[], void, undefined> {
  let chunk: T[] = []
  for await (const one of all) {
    chunk.push(one)
    if (chunk.length < size) continue
    yield chunk
    chunk = []
  }
  if (chunk.length > 0) yield chunk
}

/**
 * Does some work for each, a few at a time.
 * @throws the first error, when the others have ended
 */
export async function each<T, Result>(
  all: readonly T[],
  most: number,
  work: (one: T, signal: AbortSignal) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const stop = new AbortController()
  const queue = all.entries()
  const worker = async (): Promise<void> => {
    for (const [index, one] of queue) {
      if (stop.signal.aborted) return
      results[index] = await work(one, stop.signal)
    }
  }
  const workers = Array.from({ length: Math.min(most, all.length) }, () =>
    worker().catch((error: unknown) => {
      stop.abort(error)
      throw error
    }),
  )
  await Promise.allSettled(workers)
  stop.signal.throwIfAborted()
  return results
}
