import { AsyncLocalStorage } from 'node:async_hooks'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { createTestCommunity } from '../../support/community.ts'
import { temporaryDirectory } from '../../support/directory.ts'

const nothing = async () => {}
const inner = 'Use the outer `tx` or, in a preview, the calls that it gives; or begin the inner one after its end'

async function sqlite() {
  const path = join(temporaryDirectory(), 'db.sqlite')
  const storage = await sqliteStorage({ path })
  const database = new DatabaseSync(path)
  onTestFinished(() => database.close())
  onTestFinished(() => storage.close())
  return { storage, database }
}

test('two storages may be used inside of each other', async () => {
  const [one, other] = [memoryStorage(), memoryStorage()]
  await one.transaction(() => other.transaction(nothing))
  await expect(one.transaction(() => other.transaction(() => one.transaction(nothing)))).rejects.toThrow(inner)
})

test('work runs in the asynchronous context of its caller, though it shares a group or a snapshot with others', async () => {
  const { storage } = await sqlite()
  const request = new AsyncLocalStorage<number>()
  for (const readOnly of [false, true]) {
    const seen = [1, 2, 3].map((n) => request.run(n, () => storage.transaction(async () => request.getStore(), { readOnly })))
    expect(await Promise.all(seen)).toEqual([1, 2, 3])
  }
})

test('a transaction inside of a joined one is refused', async () => {
  const { storage, database } = await sqlite()
  database.exec('BEGIN IMMEDIATE')
  const joined: Storage = storage.using(database)
  await expect(joined.transaction(() => joined.transaction(nothing))).rejects.toThrow(inner)
  await joined.transaction(nothing)
  database.exec('ROLLBACK')
})

test('inside of `exclusive` writes are refused, and reads continue', async () => {
  const { storage } = await sqlite()
  await storage.exclusive(async () => {
    await expect(storage.transaction(nothing)).rejects.toThrow('a write inside `exclusive` would wait for itself')
    await expect(storage.exclusive(nothing)).rejects.toThrow('a write inside `exclusive` would wait for itself')
    await storage.transaction(nothing, { readOnly: true })
  })
  await expect(storage.transaction(() => storage.exclusive(nothing))).rejects.toThrow(inner)
  await storage.transaction(nothing)
})

test('`hooks.before` cannot call the community, `hooks.after` can', async () => {
  const refused = Promise.withResolvers<unknown>()
  const listed = Promise.withResolvers<unknown>()
  const list = () => community.call('spaces.list', { network: '1' }).then(({ items }) => items.length)
  const { community, send } = await createTestCommunity({
    hooks: {
      before: ({ id }) => (id === 'members.create' ? list().then(refused.reject, refused.resolve) : undefined),
      after: () => list().then(listed.resolve, listed.reject),
    },
  })
  const { status } = await send('members.create', { body: { email: 'grace@example.org', first_name: 'Grace', last_name: '' } })
  expect(status).toBe(201)
  expect(String(await refused.promise)).toContain(inner)
  expect(await listed.promise).toBe(0)
})
