import { expect, test } from 'vitest'
import { memoryStorage } from '../../../../adapters/storage/memory.ts'
import { notesOfUse } from '../../../../lib/http/caller/notes-of-use.ts'
import { apiKeys } from '../../../../lib/storage/tables/administration.ts'
import { createTestCommunity } from '../../../support/community.ts'
import { wrappedStorage } from '../../../support/storage.ts'

/** Notes of use, on the keys of a community. */
async function notes() {
  const inner = memoryStorage()
  const { community } = await createTestCommunity({ storage: inner })
  for (const name of ['a', 'b', 'c']) await community.keys.create({ network: '1', name, scopes: ['*'] })
  const keys = () => inner.transaction((tx) => tx.find(apiKeys, {}))
  const reported: unknown[] = []
  const asked = { writes: 0, fails: false }
  const storage = wrappedStorage(inner, {
    transaction: async (work, options) => {
      asked.writes++
      if (asked.fails) throw new Error('the disk is full')
      return inner.transaction(work, options)
    },
  })
  return { uses: notesOfUse({ storage, report: (_, about) => reported.push(about) }), keys, asked, reported }
}

const minute = (number: number): number => Date.UTC(2026, 10, 20, 10, number)

test('only the keys of the present minute are remembered', async () => {
  const { uses, keys, asked } = await notes()
  const [first, ...others] = await keys()
  for (const key of [first, ...others, first]) if (key) uses.note(key, minute(1) + 59_999)
  expect([uses.remembered(), asked.writes]).toEqual([4, 4])
  if (first) uses.note(first, minute(2))
  expect([uses.remembered(), asked.writes]).toEqual([1, 5])
  await uses.settled()
  const [again, other] = await keys()
  expect([again?.last_used_at, other?.last_used_at]).toEqual(['2026-11-20T10:02:00.000Z', '2026-11-20T10:01:00.000Z'])
})

test('a use that cannot be written is reported once a minute, not at every request', async () => {
  const { uses, keys, asked, reported } = await notes()
  const [key] = await keys()
  asked.fails = true
  for (const time of [minute(1), minute(1) + 1, minute(2)]) {
    if (key) uses.note(key, time)
    await uses.settled()
  }
  const about = { task: `last use of key ${key?.id}` }
  expect(reported).toEqual([about, about])
})
