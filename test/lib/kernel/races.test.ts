import { expect, test } from 'vitest'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import type { Storage, Tx } from '../../../lib/storage/contract.ts'
import { isUniqueViolation, UniqueViolation } from '../../../lib/storage/contract.ts'
import type { Row, Table } from '../../../lib/storage/table.ts'
import { mutes } from '../../../lib/storage/tables/content.ts'
import { spaceMemberships } from '../../../lib/storage/tables/members.ts'
import { createTestCommunity } from '../../support/community.ts'
import { newMember, newPost, newSpace } from '../../support/records.ts'

/**
 * A storage in which another request is faster, as often as the test wants. The others commit the very row that a transaction is
 * about to insert, and the transaction meets its unique key.
 */
function contested<R extends Row, N>(contestedTable: Table<R, N>) {
  const inner = memoryStorage()
  const ahead = { times: 0 }
  const storage: Storage = {
    async transaction(work, options) {
      let theirs: R | undefined
      const slower = (tx: Tx): Tx => ({
        ...tx,
        insert: async (table, row) => {
          if (table.name !== contestedTable.name || ahead.times === 0) return tx.insert(table, row)
          ahead.times--
          theirs = { ...row, id: String(Number(row.id) + 1) } as unknown as R
          throw new UniqueViolation(table.name, table.unique[0] ?? ['id'])
        },
      })
      try {
        return await inner.transaction((tx) => work(slower(tx)), options)
      } catch (error) {
        const row = theirs
        if (row && isUniqueViolation(error)) await inner.transaction((tx) => tx.insert(contestedTable, row))
        throw error
      }
    },
    close: () => inner.close(),
  }
  return { storage, ahead }
}

test('what another request has done at the same moment is done', async () => {
  const { storage, ahead } = contested(mutes)
  const test = await createTestCommunity({ storage })
  const post = await newPost(test, (await newSpace(test)).id)
  ahead.times = 1
  const muted = await test.send('mute.create', { params: { post_id: post.id }, query: { user_id: test.owner.id } })
  expect(muted.status).toBe(204)
  expect(ahead.times).toBe(0)
  expect(await storage.transaction((tx) => tx.count(mutes, {}))).toBe(1)
})

test('a request that loses a race gets the same response as a later one', async () => {
  const { storage, ahead } = contested(spaceMemberships)
  const test = await createTestCommunity({ storage })
  const { id: space_id } = await newSpace(test)
  const { id: user_id } = await newMember(test, 'grace')
  ahead.times = 1
  const late = await test.send('space_members.create', { params: { space_id }, query: { user_id } })
  expect(late).toMatchObject({ status: 422, body: { error: 'user_id is already a member of this space' } })
})

test('what no one looked for beforehand is refused by the unique key, which names the field', async () => {
  const { community } = await createTestCommunity()
  const owner = { email: 'host@example.org', first_name: 'Ada', last_name: 'Host' }
  const again = community.networks.create({ subdomain: 'demo', title: 'Demo', owner })
  await expect(again).rejects.toMatchObject({ status: 422, body: { error: 'subdomain has already been taken' } })
})
