/** Texts of rows that are kept from one page to the next: a page never shows an earlier state. */
import { expect, onTestFinished, test } from 'vitest'
import { memoryStorage } from '../../../../adapters/storage/memory.ts'
import type { Query, Tx } from '../../../../lib/storage/contract.ts'
import type { JsonFields } from '../../../../lib/storage/json.ts'
import { table, text } from '../../../../lib/storage/table.ts'
import { type Thing, thing, things } from '../things.ts'

const fields: JsonFields = [
  ['id', { from: 'column', column: 'id' }],
  ['name', { from: 'column', column: 'name' }],
]
const numbered: JsonFields = [['id', { from: 'number', column: 'id' }]]

async function open(ids: readonly number[]) {
  const storage = memoryStorage()
  onTestFinished(() => storage.close())
  await storage.transaction(async (tx) => {
    for (const id of ids) await tx.insert(things, thing(id))
  })
  const read = <T>(work: (tx: Tx) => Promise<T>) => storage.transaction(work, { readOnly: true })
  const json = async (query: Query<Thing>, shown = fields) =>
    (await read(async (tx) => tx.findJson?.(things, query, shown)))?.json
  /** Its records, and whether texts of them were kept: they are bytes then. */
  const page = async (query: Query<Thing> = {}, shown = fields) => {
    const found = await json(query, shown)
    const records: unknown = JSON.parse(`[${Buffer.from(found ?? '').toString()}]`)
    return { records, areKept: typeof found !== 'string' }
  }
  const settle = async () => {
    for (let time = 0; time < 3; time++) await page()
    expect((await page()).areKept).toBe(true)
  }
  return { storage, read, page, settle }
}

const named = (...names: readonly string[]) => names.map((name, place) => ({ id: String(place + 1), name }))

test('texts are kept when a page is asked for again, and a changed row has its new values', async () => {
  const { storage, page } = await open([1, 2, 3])
  expect(await page()).toEqual({ records: named('Thing 1', 'Thing 2', 'Thing 3'), areKept: false })
  expect(await page()).toEqual({ records: named('Thing 1', 'Thing 2', 'Thing 3'), areKept: true })
  await storage.transaction((tx) => tx.update(things, '2', { name: 'Second – 二' }))
  expect(await page()).toEqual({ records: named('Thing 1', 'Second – 二', 'Thing 3'), areKept: true })
  await storage.transaction((tx) => tx.remove(things, '3'))
  expect((await page()).records).toEqual(named('Thing 1', 'Second – 二'))
  await storage.transaction((tx) => tx.insert(things, thing(3, { name: 'Again' })))
  expect((await page()).records).toEqual(named('Thing 1', 'Second – 二', 'Again'))
})

test('a page in the middle of a transaction has its changes, and none of them once it was undone', async () => {
  const { storage, page, settle } = await open([1, 2])
  await settle()
  const undone = storage.transaction(async (tx) => {
    await tx.update(things, '1', { name: 'never' })
    for (let time = 0; time < 3; time++) {
      const found = await tx.findJson?.(things, {}, fields)
      expect(JSON.parse(`[${Buffer.from(found?.json ?? '').toString()}]`)).toEqual(named('never', 'Thing 2'))
    }
    throw new Error('taken back')
  })
  await expect(undone).rejects.toThrow('taken back')
  expect((await page()).records).toEqual(named('Thing 1', 'Thing 2'))
})

test('rows with texts that are kept and rows that are new are together on a page, in their order', async () => {
  const { storage, page, settle } = await open([2, 4])
  await settle()
  await storage.transaction(async (tx) => {
    for (const id of [1, 3, 5, 6]) await tx.insert(things, thing(id))
  })
  const expected = [1, 2, 3, 4, 5, 6].map((id) => ({ id: String(id), name: `Thing ${id}` }))
  for (let time = 0; time < 3; time++) expect((await page()).records).toEqual(expected)
  const downwards = { order: { by: 'id', direction: 'desc' } } as const
  expect((await page(downwards)).records).toEqual(expected.toReversed())
})

test('other fields, and a row of another table with the same id, have their own texts', async () => {
  const { storage, read, page, settle } = await open([1, 2])
  await settle()
  for (let time = 0; time < 3; time++) expect((await page({}, numbered)).records).toEqual([{ id: 1 }, { id: 2 }])
  const others = table('others', { name: text() })
  const { id, network_id, created_at, updated_at } = thing(1)
  await storage.transaction((tx) => tx.insert(others, { id, network_id, created_at, updated_at, name: 'Other' }))
  for (let time = 0; time < 3; time++) {
    const found = await read(async (tx) => tx.findJson?.(others, {}, fields))
    expect(JSON.parse(Buffer.from(found?.json ?? '').toString())).toEqual({ id: '1', name: 'Other' })
    expect((await page()).records).toEqual(named('Thing 1', 'Thing 2'))
  }
})

test('a walk through a list that is longer than the bound keeps nothing, however often', async () => {
  const { page } = await open(Array.from({ length: 40_000 }, (_, place) => place + 1))
  for (let walk = 0; walk < 3; walk++)
    for (let after = 0; after < 40_000; after += 100) {
      const { records, areKept } = await page({ after: String(after), limit: 100 })
      expect(areKept).toBe(false)
      expect(records).toHaveLength(100)
      expect((records as unknown[])[99]).toEqual({ id: String(after + 100), name: `Thing ${after + 100}` })
    }
})

test('the texts that are kept have a bound: what was wanted long ago is made again', async () => {
  const { page } = await open(Array.from({ length: 40_000 }, (_, place) => place + 1))
  const first = { limit: 100 }
  for (let time = 0; time < 2; time++) await page(first)
  expect((await page(first)).areKept).toBe(true)
  for (let after = 100; after < 40_000; after += 100)
    for (let time = 0; time < 2; time++) await page({ after: String(after), limit: 100 })
  expect((await page(first)).areKept).toBe(false)
})
