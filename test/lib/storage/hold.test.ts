import { expect, test } from 'vitest'
import { Conflict } from '../../../lib/storage/contract.ts'
import { hold } from '../../../lib/storage/hold.ts'
import { scoped } from '../../../lib/storage/scoped.ts'
import { spaces } from '../../../lib/storage/tables.ts'
import { createTestCommunity } from '../../support/community.ts'
import { neighbour, newSpace } from '../../support/records.ts'

test('holding a row changes nothing of it', async () => {
  const test = await createTestCommunity()
  const { id } = await newSpace(test)
  await test.storage.transaction(async (storage) => {
    const tx = scoped(storage, test.network.id)
    const [space] = await tx.find(spaces, { where: { id } })
    if (!space) throw new Error('the space is there')
    await hold(tx, spaces, space)
    expect(await tx.get(spaces, id)).toEqual(space)
  })
})

test('a row that has gone, or is another network’s, cannot be held', async () => {
  const test = await createTestCommunity()
  const { id } = await newSpace(test)
  const theirs = await neighbour(test)
  await test.storage.transaction(async (storage) => {
    const tx = scoped(storage, test.network.id)
    const space = await tx.remove(spaces, id)
    if (!space) throw new Error('the space was there')
    await expect(hold(tx, spaces, space)).rejects.toThrow(Conflict)
    await expect(hold(tx, spaces, { ...space, id: theirs.space.id })).rejects.toThrow(Conflict)
  })
})
