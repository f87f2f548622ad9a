/** How spaces come into collections, leave them, and their positions there, counted from 1. */

import { compareIds } from '../base/ids.ts'
import type { Context } from '../context.ts'
import { fail, invalid } from '../errors.ts'
import { orConflict } from '../storage/lock.ts'
import type { ScopedTx } from '../storage/scoped.ts'
import type { Id } from '../storage/table.ts'
import { type CollectionRow, collections, type SpaceRow, spaces } from '../storage/tables/members.ts'
import { closeGap } from './positions.ts'

/**
 * Moves a space to the end of a collection, or out of every collection; those behind its old position move up.
 * @param collection_id the collection; null for none
 * @throws ApiError 422 when the network has no such collection
 */
export async function moveToCollection(
  { tx, touch }: Pick<Context, 'tx' | 'touch'>,
  space: SpaceRow,
  collection_id: Id | null,
): Promise<void> {
  if (collection_id === space.collection_id) return
  let position: number | null = null
  if (collection_id !== null) {
    const there = new Set<Id>()
    // Both of them in one order: another space may be moving the other way.
    for (const id of [collection_id, space.collection_id ?? collection_id].sort(compareIds))
      if (await tx.lock(collections, id, 'update')) there.add(id)
    if (!there.has(collection_id)) fail(invalid('collection_id'), 'collection_id: there is no such collection in this network')
    const order = { by: 'position', direction: 'desc' } as const
    const [last] = await tx.find(spaces, { where: { collection_id }, order, limit: 1 })
    position = (last?.position ?? 0) + 1
  }
  await changePosition(tx, space, { collection_id, position, ...touch() })
}

/**
 * Gives a space another position, or none, and closes the gap that it leaves in its collection.
 * @throws Conflict when the space has moved since it was read; the kernel runs the work again
 */
export async function changePosition(
  tx: ScopedTx,
  space: SpaceRow,
  to: Pick<SpaceRow, 'collection_id' | 'position'> & Partial<Pick<SpaceRow, 'updated_at'>>,
): Promise<void> {
  const { id, collection_id, position } = space
  const collection = collection_id === null ? undefined : await tx.lock(collections, collection_id, 'update')
  orConflict(await tx.update(spaces, id, to, { collection_id, position }), `spaces ${id}`)
  if (collection && position !== null) await closeGap(tx, spaces, { collection_id: collection.id }, position)
}

export interface Assignment {
  readonly space_id: Id
  readonly position: number
}

/**
 * Gives spaces of a collection other positions, all or none. The others keep their order in the positions left.
 * @returns all of its spaces, in their order
 * @throws ApiError 422 when a space is not in the collection or named twice, or a position is beyond its end or given twice
 */
export async function orderSpaces(
  tx: ScopedTx,
  collection: CollectionRow,
  assignments: readonly Assignment[],
): Promise<readonly SpaceRow[]> {
  orConflict(await tx.lock(collections, collection.id, 'update'), `collections ${collection.id}`)
  const order = { by: 'position', direction: 'asc' } as const
  const present = await tx.find(spaces, { where: { collection_id: collection.id }, order })
  const byId = new Map(present.map((space) => [space.id, space]))
  const named = new Set<Id>()
  const assigned = new Map<number, SpaceRow>()
  const refuse = (problem: string) => fail(invalid('spaces'), `spaces: ${problem}`)
  for (const { space_id, position } of assignments) {
    const space = byId.get(space_id) ?? refuse(`space ${space_id} is not in this collection`)
    if (named.has(space_id)) refuse(`space ${space_id} is named twice`)
    if (position > present.length) refuse(`position must be a whole number from 1 to ${present.length}`)
    if (assigned.has(position)) refuse(`position ${position} is given twice`)
    named.add(space_id)
    assigned.set(position, space)
  }
  const rest = present.filter((space) => !named.has(space.id)).values()
  const ordered: SpaceRow[] = []
  for (let position = 1; position <= present.length; position++) {
    const space = assigned.get(position) ?? rest.next().value
    if (!space) break
    if (space.position !== position) await tx.update(spaces, space.id, { position })
    ordered.push(space)
  }
  return ordered
}
