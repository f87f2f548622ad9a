/** Work on thousands of rows leaves the event loop to others now and then, and stays one transaction. */
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { insertAndTell, thing, thingIds, things, wordOf } from '../things.ts'

/** Counts turns of the event loop until it is told to stop. */
function turnsOfLoop() {
  let turns = 0
  let isOver = false
  const next = () => {
    turns++
    if (!isOver) setImmediate(next)
  }
  setImmediate(next)
  return {
    count: () => turns,
    stop: () => {
      isOver = true
    },
  }
}

test('others have turns within a transaction of many statements, and see nothing of it', async () => {
  const storage = await sqliteStorage({ path: join(temporaryDirectory(), 'db.sqlite'), tables: [things] })
  onTestFinished(() => storage.close())
  await insertAndTell(storage, 1)
  const turns = turnsOfLoop()
  let within = 0
  const big = storage.transaction(async (tx) => {
    const before = turns.count()
    for (let id = 2; id <= 1_001; id++) await tx.insert(things, thing(id))
    for (let id = 2; id <= 1_001; id++) await tx.update(things, String(id), { size: 1 }, { size: 0 })
    for (let id = 2; id <= 1_001; id++) await tx.remove(things, String(id))
    await tx.append(Array.from({ length: 1_000 }, (_, id) => wordOf(id)))
    within = turns.count() - before
    await tx.insert(things, thing(2))
  })
  const seen: string[][] = []
  for (let reads = 0; reads < 5; reads++) seen.push(await thingIds(storage))
  await Promise.all([big, insertAndTell(storage, 3)])
  turns.stop()
  expect(within).toBeGreaterThan(10)
  expect(seen[0]).toEqual(['1'])
  expect(await thingIds(storage)).toEqual(['1', '2', '3'])
})

test('an update of a row has no undo log of its own, which a long transaction would walk once for each', async () => {
  const updates: string[] = []
  const storage = await sqliteStorage({
    path: join(temporaryDirectory(), 'db.sqlite'),
    tables: [things],
    onStatement: ({ sql }) => void (sql.startsWith('UPDATE') && updates.push(sql.slice(0, 15))),
  })
  onTestFinished(() => storage.close())
  await storage.transaction(async (tx) => {
    await tx.insert(things, thing(1))
    await tx.update(things, '1', { size: 1 }, { size: 0 })
    await tx.increment(things, '1', { size: 1 })
  })
  expect(updates).toEqual(['UPDATE OR FAIL ', 'UPDATE OR FAIL '])
})
