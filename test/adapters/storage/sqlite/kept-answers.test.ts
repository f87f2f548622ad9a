/** Answers that are kept from one snapshot to the next: nobody ever reads an earlier state. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { connectionOver } from '../../../../adapters/sql/sqlite/connection.ts'
import { keptAnswers } from '../../../../adapters/storage/sqlite/kept-answers.ts'
import { sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import type { Tx } from '../../../../lib/storage/contract.ts'
import type { JsonFields } from '../../../../lib/storage/json.ts'
import { table, text } from '../../../../lib/storage/table.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { thing, things } from '../things.ts'

const others = table('others', { name: text() })
const { id, network_id, created_at, updated_at, name } = thing(1)
const other = { id, network_id, created_at, updated_at, name }
const fields: JsonFields = [['name', { from: 'column', column: 'name' }]]

async function open() {
  const path = join(temporaryDirectory(), 'db.sqlite')
  const asked: unknown[] = []
  const storage = await sqliteStorage({
    path,
    tables: [things, others],
    onStatement: ({ sql, values }) => void (sql.startsWith('SELECT') && asked.push(...values)),
  })
  onTestFinished(() => storage.close())
  await storage.transaction((tx) => tx.insert(things, thing(1)))
  const read = <T>(work: (tx: Tx) => Promise<T>) => storage.transaction(work, { readOnly: true })
  const nameOf = (id = '1') => read(async (tx) => (await tx.get(things, id))?.name)
  const change = (name: string) => storage.transaction((tx) => tx.update(things, '1', { name }))
  /** Reads so often that the answer is kept. @returns the last one */
  const settle = async () => {
    for (let time = 0; time < 3; time++) await nameOf()
    asked.length = 0
    const last = await nameOf()
    expect(asked).toEqual([])
    return last
  }
  const database = () => {
    const another = new DatabaseSync(path, { timeout: 60_000 })
    onTestFinished(() => another.close())
    return another
  }
  return { storage, asked, read, nameOf, change, settle, database }
}

test('an answer is asked for until it is kept, and each reader gets a copy of its rows', async () => {
  const { asked, read, settle } = await open()
  await settle()
  const [first, second] = [await read((tx) => tx.get(things, '1')), await read((tx) => tx.get(things, '1'))]
  expect([first, second, first === second]).toEqual([thing(1), thing(1), false])
  expect(asked).toEqual([])
})

test('a page of JSON is kept, and is another one after a change', async () => {
  const { asked, read, change } = await open()
  const page = async () => {
    const found = await read(async (tx) => tx.findJson?.(things, { limit: 5 }, fields))
    return String(found && Buffer.from(found.json))
  }
  for (let time = 0; time < 3; time++) await page()
  asked.length = 0
  expect(await page()).toBe('{"name":"Thing 1"}')
  expect(asked).toEqual([])
  await change('changed')
  expect(await page()).toBe('{"name":"changed"}')
})

test('an own commit counts for its table at once, and for no other', async () => {
  const { storage, asked, nameOf, change, settle } = await open()
  await settle()
  await storage.transaction((tx) => tx.insert(others, other))
  expect([await nameOf(), asked]).toEqual(['Thing 1', []])
  await change('changed')
  expect(await nameOf()).toBe('changed')
  expect(await settle()).toBe('changed')
  await storage.transaction(async ({ native }) => (native as DatabaseSync).exec("UPDATE folkmoot_things SET name = 'natively'"))
  expect(await nameOf()).toBe('natively')
})

test('a commit of somebody else counts from the next read on', async () => {
  const { storage, nameOf, settle, database } = await open()
  const another = database()
  for (const name of ['first', 'second']) {
    await settle()
    another.exec(`UPDATE folkmoot_things SET name = '${name}'`)
    expect(await nameOf()).toBe(name)
  }
  await settle()
  another.exec('BEGIN IMMEDIATE')
  await storage.using(another).transaction((tx) => tx.update(things, '1', { name: 'by a host' }))
  expect(await nameOf()).toBe('second')
  another.exec('COMMIT')
  expect(await nameOf()).toBe('by a host')
})

test.each(['this process', 'somebody else'])('a read that takes its time keeps its state beside commits of %s', async (who) => {
  const { read, change, settle, database } = await open()
  await settle()
  const { promise: changed, resolve: go } = Promise.withResolvers<void>()
  onTestFinished(() => go())
  const whole = (tx: Tx) => tx.find(things, { where: { size: 0 } })
  const begun = Promise.withResolvers<void>()
  const slow = read(async (tx) => {
    const before = await tx.get(things, '1')
    begun.resolve()
    await changed
    // Twice, so that an answer of the old state would be kept.
    return [before, await tx.get(things, '1'), ...(await whole(tx)), ...(await whole(tx))].map((row) => row?.name)
  })
  await begun.promise
  if (who === 'this process') await change('changed')
  else database().exec("UPDATE folkmoot_things SET name = 'changed'")
  expect(await settle()).toBe('changed')
  go()
  expect(await slow).toEqual(['Thing 1', 'Thing 1', 'Thing 1', 'Thing 1'])
  expect((await read(whole)).map((row) => row.name)).toEqual(['changed'])
  expect(await settle()).toBe('changed')
})

test('a snapshot that began as others committed keeps nothing: it may be older than the last commit', async () => {
  const { database } = await open()
  const [reader, another] = [connectionOver(database(), 'db.sqlite'), database()]
  const commits = [() => another.exec("UPDATE folkmoot_things SET name = 'changed'")]
  const kept = keptAnswers(() => commits.splice(0).some((commit) => commit() ?? true))
  const statement = { sql: 'SELECT name FROM folkmoot_things WHERE id = ?', values: ['1'], reads: 'things' }
  const readTwice = () => {
    reader.run('BEGIN')
    const state = kept.begun(reader)
    const answers = [kept.of(statement, state, reader.query), kept.of(statement, state, reader.query)]
    reader.run('COMMIT')
    return answers.flat(2)
  }
  expect(readTwice()).toEqual(['Thing 1', 'Thing 1'])
  expect(readTwice()).toEqual(['changed', 'changed'])
})

test('a walk over more than fits keeps nothing, however often it is made', async () => {
  const { storage, asked, nameOf } = await open()
  const ids = Array.from({ length: 30 }, (_, place) => String(place + 2))
  for (const id of ids) await storage.transaction((tx) => tx.insert(things, thing(id, { label: id.padEnd(400_000, '.') })))
  for (let time = 0; time < 3; time++) for (const id of ids) await nameOf(id)
  asked.length = 0
  for (const id of ids) await nameOf(id)
  expect(asked).toEqual(ids)
})

test('what was asked counts as well: many long questions without an answer keep nothing', async () => {
  const { database } = await open()
  const reader = connectionOver(database(), 'db.sqlite')
  const kept = keptAnswers(() => false)
  reader.run('BEGIN')
  const state = kept.begun(reader)
  let asked = 0
  const read = (value: string) =>
    kept.of({ sql: 'SELECT name FROM folkmoot_things WHERE name = ?', values: [value], reads: 'things' }, state, (statement) => {
      if (value === 'short') asked += 1
      return reader.query(statement)
    })
  read('short')
  for (let place = 0; place < 2_000; place++) read(String(place).padEnd(8_000, '.'))
  read('short')
  read('short')
  expect(asked).toBe(3)
})
