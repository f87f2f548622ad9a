/** How spaces come into collections, leave them and take their places there, counted from 1. */
import { fail, invalid } from '../errors.ts'
import { Conflict } from '../storage/contract.ts'
import { hold } from '../storage/hold.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import type { Id } from '../storage/table.ts'
import { collections, type SpaceRow, spaces } from '../storage/tables.ts'
import { closeGap } from './places.ts'

/**
 * Moves a space to the end of a collection, or out of every collection; those behind its old place move up.
 * @param collection_id the collection; null for none
 * @throws ApiError 422 when the network has no such collection
 */
export async function moveToCollection(tx: ScopedTx, space: SpaceRow, collection_id: Id | null): Promise<void> {
  if (collection_id === space.collection_id) return
  let position: number | null = null
  if (collection_id !== null) {
    const collection = await tx.get(collections, collection_id)
    if (!collection) return fail(invalid('collection_id'), 'collection_id: there is no such collection in this network')
    await hold(tx, collections, collection)
    const order = { by: 'position', direction: 'desc' } as const
    const [last] = await tx.find(spaces, { where: { collection_id }, order, limit: 1 })
    position = (last?.position ?? 0) + 1
  }
  await changePlace(tx, space, { collection_id, position })
}

/**
 * Gives a space another place, or none, and closes the gap that it leaves in its collection.
 * @throws Conflict when the space has moved since it was read; the kernel runs the work again
 */
export async function changePlace(
  tx: ScopedTx,
  space: SpaceRow,
  to: { readonly collection_id: Id | null; readonly position: number | null },
): Promise<void> {
  const { id, collection_id, position } = space
  const collection = collection_id === null ? undefined : await tx.get(collections, collection_id)
  if (collection) await hold(tx, collections, collection)
  if (!(await tx.update(spaces, id, to, { collection_id, position }))) throw new Conflict(`spaces ${id} has moved`)
  if (collection && position !== null) await closeGap(tx, spaces, { collection_id: collection.id }, position)
}
