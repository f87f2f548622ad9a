/** Events go into the outbox with the commit of their group: in order, once, and only those of transactions that ended well. */
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sqliteOutbox, sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { recordsOf } from '../records-of.ts'
import { insertAndTell, thing, things, wordOf } from '../things.ts'

async function open() {
  const path = join(temporaryDirectory(), 'db.sqlite')
  let inserts = 0
  const storage = await sqliteStorage({
    path,
    tables: [things],
    onStatement({ sql }) {
      if (sql.startsWith('INSERT INTO "folkmoot_outbox"')) inserts += 1
    },
  })
  onTestFinished(() => storage.close())
  const events = async () =>
    (await recordsOf(await sqliteOutbox(path))).map((record) => ('event_id' in record ? record.event_id : ''))
  /** A transaction with so many events whose bodies come to more than are held back. */
  const large = (id: number, count: number, fails = false) =>
    storage.transaction(async (tx) => {
      await tx.insert(things, thing(id))
      for (let place = 0; place < count; place++)
        await tx.append([{ ...wordOf(`${id}.${place}`), body: JSON.stringify({ text: 'x'.repeat(200_000) }) }])
      if (fails) throw new RangeError('undone')
    })
  return { storage, inserts: () => inserts, events, large }
}

const idsOf = (id: number, count: number) => Array.from({ length: count }, (_, place) => `${id}.${place}`)

test('the events of a group go into the outbox as one row, in the order of its transactions', async () => {
  const { storage, inserts, events } = await open()
  const ids = Array.from({ length: 45 }, (_, index) => index + 1)
  await Promise.all(ids.map((id) => insertAndTell(storage, id)))
  expect(inserts()).toBe(1)
  expect(await events()).toEqual(ids.map(String))
})

test('the events of a large transaction go in while it runs, behind those of the group before it', async () => {
  const { storage, inserts, events, large } = await open()
  await Promise.all([insertAndTell(storage, 1), large(2, 5), insertAndTell(storage, 3)])
  expect(inserts()).toBeGreaterThan(2)
  expect(await events()).toEqual(['1', ...idsOf(2, 5), '3'])
})

test('a large transaction that fails takes none of the events before it along', async () => {
  const { storage, events, large } = await open()
  const failed = large(2, 5, true)
  const outcomes = await Promise.allSettled([
    insertAndTell(storage, 1),
    failed,
    large(3, 4),
    large(4, 3, true),
    insertAndTell(storage, 5),
  ])
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'])
  expect(await events()).toEqual(['1', ...idsOf(3, 4), '5'])
})
