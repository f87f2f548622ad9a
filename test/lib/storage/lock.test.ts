import { expect, test } from 'vitest'
import { Conflict } from '../../../lib/storage/contract.ts'
import { orConflict } from '../../../lib/storage/lock.ts'
import { scoped } from '../../../lib/storage/scoped.ts'
import { members, spaces } from '../../../lib/storage/tables/members.ts'
import { createTestCommunity } from '../../support/community.ts'
import { neighbour, newSpace } from '../../support/records.ts'

test('a lock gives the row and counts as no change', async () => {
  const test = await createTestCommunity()
  const { id } = await newSpace(test)
  await test.storage.transaction(async (storage) => {
    const tx = scoped(storage, test.network.id)
    const space = await tx.get(spaces, id)
    expect([await tx.lock(spaces, id, 'share'), await tx.lock(spaces, id, 'update')]).toEqual([space, space])
    expect(await tx.get(spaces, id)).toEqual(space)
    expect(tx.changes).toBe(0)
  })
})

test('a row of another network, or none, cannot be locked, incremented or removed', async () => {
  const test = await createTestCommunity()
  const theirs = await neighbour(test)
  await test.storage.transaction(async (storage) => {
    const tx = scoped(storage, test.network.id)
    for (const id of [theirs.owner.id, '404', '18446744073709551615'])
      expect([
        await tx.lock(members, id, 'share'),
        await tx.lock(members, id, 'update'),
        await tx.increment(members, id, { referral_count: 1 }),
        await tx.remove(members, id),
      ]).toEqual([undefined, undefined, undefined, undefined])
    expect(tx.changes).toBe(0)
    expect(await storage.get(members, theirs.owner.id)).toEqual(theirs.owner)
  })
})

test('an increment and a guarded removal count as changes if they happen', async () => {
  const test = await createTestCommunity()
  const { id } = await newSpace(test)
  await test.storage.transaction(async (storage) => {
    const tx = scoped(storage, test.network.id)
    expect(await tx.increment(members, test.owner.id, { referral_count: 2 })).toMatchObject({ referral_count: 2 })
    expect(await tx.remove(spaces, id, { name: 'Another' })).toBeUndefined()
    expect(tx.changes).toBe(1)
    expect(await tx.remove(spaces, id, { name: 'Garden' })).toMatchObject({ id })
    expect(tx.changes).toBe(2)
  })
})

test('what another transaction has changed or removed is a conflict that names the row', () => {
  expect(orConflict({ id: '1' }, 'spaces 1')).toEqual({ id: '1' })
  expect(() => orConflict(undefined, 'spaces 1')).toThrow(Conflict)
  expect(() => orConflict(undefined, 'spaces 1')).toThrow('spaces 1 was changed or removed by another transaction')
})
