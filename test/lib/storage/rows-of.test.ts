import { expect, test } from 'vitest'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { batchesOf, batchSize, rowsOf } from '../../../lib/storage/rows-of.ts'
import { scoped } from '../../../lib/storage/scoped.ts'
import { spaces } from '../../../lib/storage/tables/members.ts'

const at = '2026-11-20T10:00:00.000Z'

/** A storage with this many spaces, the last one first in its collection. */
async function storageWith(many: number) {
  const storage = memoryStorage()
  await storage.transaction(async (tx) => {
    for (let number = 1; number <= many; number++) {
      const fields = { name: 'Space', collection_id: null, position: many + 1 - number }
      await tx.insert(spaces, { id: String(number), network_id: '1', created_at: at, updated_at: at, ...fields })
    }
  })
  return storage
}

test.for([0, 1, batchSize - 1, batchSize, batchSize + 1, 2 * batchSize])('all of %i rows come once, in order', async (many) => {
  const storage = await storageWith(many)
  const ids: string[] = []
  const sizes: number[] = []
  await storage.transaction(async (storage) => {
    const tx = scoped(storage, '1')
    for await (const { id } of rowsOf(tx, spaces, {})) ids.push(id)
    for await (const rows of batchesOf(tx, spaces, {})) sizes.push(rows.length)
  })
  expect(ids).toEqual(Array.from({ length: many }, (_, place) => String(place + 1)))
  expect(sizes.every((size) => size > 0 && size <= batchSize)).toBe(true)
})

test('rows that were given may be changed and removed on the way', async () => {
  const many = batchSize + 50
  const storage = await storageWith(many)
  const seen = await storage.transaction(async (storage) => {
    const tx = scoped(storage, '1')
    let seen = 0
    for await (const { id } of rowsOf(tx, spaces, { name: 'Space' })) {
      seen++
      if (seen % 2) await tx.remove(spaces, id)
      else await tx.update(spaces, id, { name: 'Seen' })
    }
    return seen
  })
  expect(seen).toBe(many)
})

test('another column gives the order, and a value where it begins', async () => {
  const storage = await storageWith(5)
  const positions = await storage.transaction(async (storage) => {
    const positions: unknown[] = []
    for await (const { position } of rowsOf(scoped(storage, '1'), spaces, {}, { by: 'position', after: 2 }))
      positions.push(position)
    return positions
  })
  expect(positions).toEqual([3, 4, 5])
})
