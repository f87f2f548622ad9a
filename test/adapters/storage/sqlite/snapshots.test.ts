/** Reads that arrive together share one snapshot of a SQLite file; none of them may notice. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { insertAndTell, thing, thingIds, things } from '../things.ts'

async function open() {
  const path = join(temporaryDirectory(), 'db.sqlite')
  const storage = await sqliteStorage({ path, tables: [things] })
  onTestFinished(() => storage.close())
  return { path, storage }
}

test('a read sees what another connection committed before it was requested, though it shares a snapshot with an older one', async () => {
  const { path, storage } = await open()
  await insertAndTell(storage, 1)
  const another = new DatabaseSync(path)
  onTestFinished(() => another.close())
  const older = thingIds(storage)
  another.exec("UPDATE folkmoot_things SET name = 'revoked'")
  const names = await storage.transaction(async (tx) => (await tx.find(things, {})).map(({ name }) => name), { readOnly: true })
  expect(names).toEqual(['revoked'])
  expect(await older).toEqual(['1'])
})

test('a read sees each commit that was made before it, by this process or by another connection', async () => {
  const { path, storage } = await open()
  await insertAndTell(storage, 1)
  const nameOf = () => storage.transaction(async (tx) => (await tx.get(things, '1'))?.name, { readOnly: true })
  const another = new DatabaseSync(path, { timeout: 60_000 })
  onTestFinished(() => another.close())
  expect(await nameOf()).toBe('Thing 1')
  await storage.transaction((tx) => tx.update(things, '1', { name: 'changed' }))
  expect(await nameOf()).toBe('changed')
  await storage.transaction(async ({ native }) => (native as DatabaseSync).exec("UPDATE folkmoot_things SET name = 'natively'"))
  expect(await nameOf()).toBe('natively')
  another.exec("UPDATE folkmoot_things SET name = 'by another'")
  expect(await nameOf()).toBe('by another')
  another.exec('BEGIN IMMEDIATE')
  await storage.using(another).transaction((tx) => tx.update(things, '1', { name: 'by a host' }))
  expect(await nameOf()).toBe('by another')
  another.exec('COMMIT')
  expect(await nameOf()).toBe('by a host')
})

test('what one read throws is its own affair', async () => {
  const { storage } = await open()
  await insertAndTell(storage, 1)
  const read = (work: 'well' | 'badly' | 'broken') =>
    storage.transaction(
      async (tx) => {
        if (work === 'badly') throw new RangeError('no good')
        return tx.find(things, work === 'broken' ? { where: { nothing: 1 } as object } : {})
      },
      { readOnly: true },
    )
  const outcomes = await Promise.allSettled([read('badly'), read('well'), read('broken'), read('well')])
  expect(outcomes).toEqual([
    { status: 'rejected', reason: new RangeError('no good') },
    { status: 'fulfilled', value: [thing(1)] },
    { status: 'rejected', reason: new RangeError('things has no column nothing') },
    { status: 'fulfilled', value: [thing(1)] },
  ])
})

test('a read that takes its time keeps its snapshot, and holds up no one else', async () => {
  const { storage } = await open()
  await insertAndTell(storage, 1)
  const { promise: word, resolve: go } = Promise.withResolvers<void>()
  const slow = storage.transaction(
    async (tx) => {
      const before = await tx.count(things, {})
      await word
      return [before, await tx.count(things, {})]
    },
    { readOnly: true },
  )
  expect(await thingIds(storage)).toEqual(['1'])
  await insertAndTell(storage, 2)
  expect(await thingIds(storage)).toEqual(['1', '2'])
  go()
  expect(await slow).toEqual([1, 1])
})

test('more reads than there are connections get a response, each from its own snapshot, and closing waits for them', async () => {
  const { storage } = await open()
  await insertAndTell(storage, 1)
  const { promise: word, resolve: go } = Promise.withResolvers<void>()
  const reads: Promise<string[]>[] = []
  for (let turn = 0; turn < 20; turn++) {
    reads.push(
      storage.transaction(
        async (tx) => {
          await word
          return (await tx.find(things, {})).map(({ id }) => id)
        },
        { readOnly: true },
      ),
    )
    await new Promise(setImmediate)
  }
  const closed = storage.close()
  go()
  expect(await Promise.all(reads)).toEqual(Array.from({ length: 20 }, () => ['1']))
  await closed
})
