/** Transactions of one group: one that fails is undone, whatever it has done, and the others stay. */
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { sqliteOutbox, sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import type { Tx } from '../../../../lib/storage/contract.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { recordsOf } from '../records-of.ts'
import { insertAndTell, storeAndTell, thing, things, wordOf } from '../things.ts'

async function open() {
  const path = join(temporaryDirectory(), 'db.sqlite')
  const storage = await sqliteStorage({ path, tables: [things] })
  onTestFinished(() => storage.close())
  /** Names by id. */
  const names = () =>
    storage.transaction(async (tx) => Object.fromEntries((await tx.find(things, {})).map(({ id, name }) => [id, name])), {
      readOnly: true,
    })
  const events = async () =>
    (await recordsOf(await sqliteOutbox(path))).map((record) => ('event_id' in record ? record.event_id : ''))
  return { storage, names, events }
}

const failing = (work: (tx: Tx) => Promise<unknown>) => async (tx: Tx) => {
  await work(tx)
  throw new RangeError('undone')
}

test('one that fails is undone, whatever it has done, and the others stay', async () => {
  const { storage, names, events } = await open()
  await insertAndTell(storage, 1)
  const failures: ((tx: Tx) => Promise<unknown>)[] = [
    (tx) => storeAndTell(tx, 10),
    async (tx) => {
      await storeAndTell(tx, 11)
      await storeAndTell(tx, 12)
    },
    async (tx) => {
      await storeAndTell(tx, 13)
      await tx.update(things, '13', { name: 'changed' })
      await tx.update(things, '1', { name: 'changed' })
      await tx.remove(things, '13')
    },
    (tx) => tx.increment(things, '1', { size: 1 }),
    async (tx) => {
      await storeAndTell(tx, 14)
      const database = tx.native as DatabaseSync
      database.exec(`UPDATE folkmoot_things SET name = 'changed ' || id`)
      await storeAndTell(tx, 15)
    },
  ]
  const outcomes = await Promise.allSettled([
    insertAndTell(storage, 2),
    ...failures.flatMap((work, index) => [storage.transaction(failing(work)), insertAndTell(storage, 20 + index)]),
  ])
  const stay = [2, 20, 21, 22, 23, 24]
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(stay.length)
  expect(await names()).toEqual(Object.fromEntries([1, ...stay].map((id) => [id, `Thing ${id}`])))
  expect(await events()).toEqual([1, ...stay].map(String))
})

test('the keys of one that was undone are free again in the same group', async () => {
  const { storage, names } = await open()
  const failed = storage.transaction(failing((tx) => tx.insert(things, thing(1))))
  await Promise.all([expect(failed).rejects.toThrow('undone'), storage.transaction((tx) => tx.insert(things, thing(1)))])
  expect(await names()).toEqual({ 1: 'Thing 1' })
})

test('a row whose key was taken is not removed with the transaction that met it', async () => {
  const { storage, names } = await open()
  await insertAndTell(storage, 1)
  const same = storage.transaction((tx) => tx.insert(things, thing(1, { name: 'Another' })))
  await expect(same).rejects.toMatchObject({ code: 'unique', key: ['id'] })
  const metAndAdded = storage.transaction(
    failing(async (tx) => {
      await tx.insert(things, thing(1)).catch(() => undefined)
      await tx.insert(things, thing(2))
    }),
  )
  await expect(metAndAdded).rejects.toThrow('undone')
  expect(await names()).toEqual({ 1: 'Thing 1' })
})

test('a group whose events do not fit on the disk is undone whole, and the next one begins without it', async () => {
  const { storage, names, events } = await open()
  await insertAndTell(storage, 1)
  const limit = (pages: number) =>
    storage.transaction(async ({ native }) => (native as DatabaseSync).exec(`PRAGMA max_page_count = ${pages}`))
  await limit(1)
  // The change itself needs no page. The events go in with the commit.
  const changed = storage.transaction(async (tx) => {
    await tx.update(things, '1', { name: 'changed' })
    await tx.append([{ ...wordOf(2), body: 'x'.repeat(100_000) }])
  })
  const beside = storage.transaction((tx) => tx.increment(things, '1', { size: 1 }))
  const outcomes = await Promise.allSettled([changed, beside])
  const full = { status: 'rejected', reason: expect.objectContaining({ code: 'full' }) }
  expect(outcomes).toEqual([full, full])
  expect(await storage.transaction((tx) => tx.get(things, '1'))).toEqual(thing(1))
  await limit(1_000_000)
  await insertAndTell(storage, 3)
  expect([await names(), await events()]).toEqual([{ 1: 'Thing 1', 3: 'Thing 3' }, ['1', '3']])
})
