/** Walks page by page, in one snapshot where the storage holds one. */
import { isStorageError, type Storage } from '../storage/contract.ts'
import { type ScopedTx, scoped } from '../storage/scoped.ts'
import type { Id } from '../storage/table.ts'

/** The argument of a call for a page, without the snapshot that its place names, and the snapshot. */
export function withoutSnapshot<G>(given: G): readonly [G, string | undefined] {
  const after: unknown = typeof given === 'object' && given !== null ? Reflect.get(given, 'after') : undefined
  const [, place, snapshot] = /^(.+)@([\w-]{36})$/.exec(typeof after === 'string' ? after : '') ?? []
  return place === undefined ? [given, undefined] : [{ ...given, after: place }, snapshot]
}

export interface Walks {
  /**
   * Reads a page. The first one begins a snapshot, which the `next` of each page names. Without one, or when it is gone, the page
   * shows the state of its own moment.
   * @param snapshot that of the page before; null for the first page
   */
  page<P extends { readonly next: string | null }>(
    network_id: Id,
    snapshot: string | null | undefined,
    read: (tx: ScopedTx) => Promise<P>,
  ): Promise<P>
  /** Ends a walk before its last page. @param next of the page that was read last */
  leave(next: string): void
}

/** @param readAlone reads in a transaction of its own */
export const walksOf = (
  { snapshots }: Storage,
  readAlone: <T>(network_id: Id, body: (tx: ScopedTx) => Promise<T>) => Promise<T>,
): Walks => ({
  async page(network_id, snapshot, read) {
    const name = snapshot === null ? snapshots?.hold() : snapshot
    const tx = name === undefined ? undefined : snapshots?.tx(name)
    if (tx && name !== undefined)
      try {
        const page = await read(scoped(await tx, network_id))
        if (page.next !== null) return { ...page, next: `${page.next}@${name}` }
        snapshots?.leave(name)
        return page
      } catch (error) {
        snapshots?.leave(name)
        // Its time is over, or the database has ended it.
        if (!isStorageError(error)) throw error
      }
    return readAlone(network_id, read)
  },
  leave: (next) => snapshots?.leave(next.replace(/^.*@/, '')),
})
