/** Rows by id that the writer keeps from one transaction to the next: nobody ever gets an earlier state of one. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import type { TableShape } from '../../../../adapters/sql/values.ts'
import { sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import type { Tx } from '../../../../lib/storage/contract.ts'
import { json, table } from '../../../../lib/storage/table.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { insertAndTell, thing, things, wordOf } from '../things.ts'

async function open(...further: TableShape[]) {
  const path = join(temporaryDirectory(), 'db.sqlite')
  const asked: unknown[] = []
  const storage = await sqliteStorage({
    path,
    tables: [things, ...further],
    onStatement: ({ sql, values }) => void (sql.includes('WHERE "id" = ?1') && sql.startsWith('SELECT') && asked.push(...values)),
  })
  onTestFinished(() => storage.close())
  await insertAndTell(storage, 1)
  const write = <T>(work: (tx: Tx) => Promise<T>) => storage.transaction(work)
  const nameOf = async (tx: Tx, id = '1') => (await tx.get(things, id))?.name
  return { path, storage, asked, write, nameOf }
}

test('a row that several transactions want is asked for once', async () => {
  const { asked, write } = await open()
  const rows = await Promise.all([write((tx) => tx.get(things, '1')), write((tx) => tx.lock(things, '1', 'update'))])
  rows.push(await write((tx) => tx.get(things, '1')))
  expect(rows).toEqual([thing(1), thing(1), thing(1)])
  expect(asked).toEqual(['1'])
})

test('nothing that is done to a kept row reaches the next transaction, in its lists neither', async () => {
  const lists = table('lists', { words: json<{ name: string; of: string[] }>() })
  const { write } = await open(lists)
  const { size: _size, label: _label, name, ...common } = thing(1)
  const row = { ...common, words: { name, of: ['one'] } }
  await write((tx) => tx.insert(lists, row))
  for (const change of [
    (words: { name: string; of: string[] }) => words.of.push('two'),
    (words: { name: string; of: string[] }) => Object.assign(words, { name: 'another' }),
  ]) {
    const kept = await write((tx) => tx.get(lists, '1'))
    expect(() => kept && change(kept.words)).toThrow(TypeError)
    expect(await write((tx) => tx.get(lists, '1'))).toEqual(row)
  }
})

test('a row is asked for again after a change of its table, in the same transaction and in later ones', async () => {
  const { write, nameOf } = await open()
  await write((tx) => nameOf(tx))
  await write((tx) => nameOf(tx, '2'))
  const seen = await write(async (tx) => {
    await tx.update(things, '1', { name: 'changed' })
    await tx.insert(things, thing(2))
    return [await nameOf(tx), await nameOf(tx, '2')]
  })
  expect(seen).toEqual(['changed', 'Thing 2'])
  expect(await write((tx) => tx.remove(things, '2'))).toEqual(thing(2))
  expect(await write((tx) => nameOf(tx, '2'))).toBeUndefined()
})

test('a change that was undone is forgotten, of one transaction and of a whole group', async () => {
  const { write, nameOf } = await open()
  const undone = write(async (tx) => {
    await tx.insert(things, thing(2))
    await nameOf(tx, '2')
    throw new RangeError('undone')
  })
  const [, name] = await Promise.all([expect(undone).rejects.toThrow('undone'), write((tx) => nameOf(tx, '2'))])
  expect(name).toBeUndefined()
  // No page is left for the event, which goes in with the commit.
  await write(async ({ native }) => {
    const database = native as DatabaseSync
    database.exec('PRAGMA max_page_count = 1')
  })
  const group = write(async (tx) => {
    await tx.update(things, '1', { name: 'changed' })
    await tx.append([{ ...wordOf(1), body: 'x'.repeat(100_000) }])
    return nameOf(tx)
  })
  await expect(group).rejects.toMatchObject({ code: 'full' })
  expect(await write((tx) => nameOf(tx))).toBe('Thing 1')
})

test('a commit of somebody else counts from the next group on', async () => {
  const { path, storage, write, nameOf } = await open()
  expect(await write((tx) => nameOf(tx))).toBe('Thing 1')
  const other = new DatabaseSync(path, { timeout: 60_000 })
  onTestFinished(() => other.close())
  other.exec("UPDATE folkmoot_things SET name = 'by another connection'")
  expect(await write((tx) => nameOf(tx))).toBe('by another connection')

  other.exec('BEGIN IMMEDIATE')
  await storage.using(other).transaction((tx) => tx.update(things, '1', { name: 'by a host' }))
  other.exec('COMMIT')
  expect(await write((tx) => nameOf(tx))).toBe('by a host')
})

test('a statement through `tx.native` counts at once, and later rows are kept again', async () => {
  const { asked, write, nameOf } = await open()
  await write((tx) => nameOf(tx))
  const seen = await write(async (tx) => {
    const database = tx.native as DatabaseSync
    const before = await nameOf(tx)
    database.exec("UPDATE folkmoot_things SET name = 'natively'")
    return [before, await nameOf(tx)]
  })
  expect(seen).toEqual(['Thing 1', 'natively'])
  asked.length = 0
  expect([await write((tx) => nameOf(tx)), await write((tx) => nameOf(tx))]).toEqual(['natively', 'natively'])
  expect(asked).toEqual(['1'])
})
