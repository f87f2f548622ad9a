/** Faults that only SQLite has: one writer for many processes, groups of commits, files that are damaged or full. */
import { writeFileSync } from 'node:fs'
import { copyFile, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { type Connection, openConnection } from '../../../../adapters/sql/sqlite/connection.ts'
import { groupCommits } from '../../../../adapters/storage/sqlite/group-commits.ts'
import { logOver, openLogFile } from '../../../../adapters/storage/sqlite/log.ts'
import { type SqliteOptions, type SqliteStorage, sqliteOutbox, sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import { isUniqueViolation } from '../../../../lib/storage/contract.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { startChild } from '../../child.ts'
import { recordsOf } from '../records-of.ts'
import { insertAndTell, storeAndTell, thing, thingIds, things } from '../things.ts'

const file = () => join(temporaryDirectory(), 'db.sqlite')

async function open(options: SqliteOptions): Promise<SqliteStorage> {
  const storage = await sqliteStorage({ tables: [things], ...options })
  onTestFinished(() => storage.close())
  return storage
}

const eventIds = async (path: string) =>
  (await recordsOf(await sqliteOutbox(path))).map((record) => ('event_id' in record ? record.event_id : ''))

test('the file is only for its owner, and a person can query it', async () => {
  const path = file()
  const storage = await open({ path })
  await insertAndTell(storage, 7)
  expect(((await stat(path)).mode & 0o777).toString(8)).toBe('600')
  const database = new DatabaseSync(path, { readOnly: true })
  const row = database.prepare('SELECT id, name, size, label FROM folkmoot_things').get()
  database.close()
  expect({ ...row }).toEqual({ id: 7, name: 'Thing 7', size: 0, label: null })
})

test('once the file is replaced or removed under the storage, nothing more is written', async () => {
  const path = file()
  const storage = await open({ path })
  await insertAndTell(storage, 1)
  await copyFile(path, `${path}.backup`)
  await rename(path, `${path}.before`)
  await rename(`${path}.backup`, path)
  await expect(insertAndTell(storage, 2)).rejects.toMatchObject({
    code: 'unavailable',
    message: `${path}: another file has its place while it was open. Nothing was written; start this process again`,
  })
  await rm(path)
  await expect(insertAndTell(storage, 3)).rejects.toMatchObject({
    code: 'unavailable',
    message: `${path}: it was removed or moved while it was open. Nothing was written; start this process again`,
  })
  await rename(`${path}.before`, path)
  await insertAndTell(storage, 4)
  expect(await thingIds(storage)).toEqual(['1', '4'])
})

test('a transaction that fails does not disturb those in the same group', async () => {
  const path = file()
  const storage = await open({ path })
  const outcomes = await Promise.allSettled(
    Array.from({ length: 30 }, (_, id) =>
      storage.transaction(async (tx) => {
        await storeAndTell(tx, id + 1)
        if (id % 3 === 0) throw new RangeError('undone')
        if (id % 3 === 1) await tx.insert(things, thing(1000, { name: 'one only' }))
      }),
    ),
  )
  const kept = outcomes.flatMap(({ status }, id) => (status === 'fulfilled' ? [String(id + 1)] : []))
  // All those of the third kind, and the first of the second.
  expect(kept).toHaveLength(11)
  expect(await thingIds(storage)).toEqual([...kept, '1000'])
  expect(await eventIds(path)).toEqual(kept)
})

test('a violated key that `work` catches leaves the transaction as it was before', async () => {
  const storage = await open({ path: file() })
  await storage.transaction(async (tx) => {
    await tx.insert(things, thing(1))
    await tx.insert(things, thing(2))
    const caught = await tx.update(things, '2', { name: 'Thing 1', size: 9 }).catch((error: unknown) => error)
    expect(isUniqueViolation(caught) && caught.key).toEqual(['network_id', 'name'])
    await tx.insert(things, thing(3))
  })
  expect(await thingIds(storage)).toEqual(['1', '2', '3'])
})

test('a full disk refuses the transaction, keeps what was there, and is no trouble later', async () => {
  const storage = await open({ path: file() })
  await insertAndTell(storage, 1)
  const limit = (pages: number) =>
    storage.transaction(async (tx) => (tx.native as DatabaseSync).exec(`PRAGMA max_page_count = ${pages}`))
  await limit(1)
  const big = storage.transaction((tx) => tx.insert(things, thing(2, { label: 'x'.repeat(1_000_000) })))
  await expect(big).rejects.toMatchObject({ code: 'full' })
  expect(await thingIds(storage)).toEqual(['1'])
  await limit(1_000_000)
  await insertAndTell(storage, 3)
  expect(await thingIds(storage)).toEqual(['1', '3'])
})

test('a disk that fails in the commit leaves it open whether that came through, and other trouble does not', async () => {
  const path = file()
  const connection = openConnection(path)
  onTestFinished(() => connection.close())
  connection.run('CREATE TABLE notes (text)')
  const log = logOver(await openLogFile(path), path)
  onTestFinished(() => log.close())
  const failing = (errcode: number): Connection => ({
    ...connection,
    run(sql) {
      if (sql === 'COMMIT') throw Object.assign(new Error('disk trouble'), { errcode })
      connection.run(sql)
    },
  })
  const commit = (over: Connection) =>
    groupCommits({ connection: over, path, log, busyTimeoutMs: 100 }).transaction(async () =>
      connection.run("INSERT INTO notes VALUES ('x')"),
    )
  // SQLITE_IOERR_FSYNC, SQLITE_FULL.
  await expect(commit(failing(1034))).rejects.toMatchObject({ code: 'unknown' })
  await expect(commit(failing(13))).rejects.toMatchObject({ code: 'full' })
  await commit(connection)
  expect(connection.query({ sql: 'SELECT text FROM notes', values: [] })).toEqual([['x']])
})

test('another process that writes is waited for, without holding up this one, and not for ever', async () => {
  const path = file()
  const storage = await open({ path, busyTimeoutMs: 300 })
  const other = new DatabaseSync(path)
  onTestFinished(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  let turns = 0
  const timer = setInterval(() => turns++, 5)
  await expect(insertAndTell(storage, 1)).rejects.toMatchObject({ code: 'unavailable' })
  clearInterval(timer)
  // Each waits 5 ms or more, and much longer on a busy machine.
  expect(turns).toBeGreaterThan(0)
  expect(await thingIds(storage)).toEqual([])

  const waiting = insertAndTell(storage, 2)
  setTimeout(() => other.exec('COMMIT'), 20)
  await waiting
  expect(await thingIds(storage)).toEqual(['2'])
})

test('a file that is no database is refused and left alone', async () => {
  const path = file()
  writeFileSync(path, 'Dear diary, '.repeat(1000))
  await expect(sqliteStorage({ path })).rejects.toMatchObject({ code: 'damaged', message: expect.stringContaining(path) })
  expect(await readFile(path, 'utf8')).toBe('Dear diary, '.repeat(1000))
})

test('memory and nothing at all are refused with what to do instead', async () => {
  for (const options of [{}, { path: ':memory:' }, { path: 'file:x.db' }, { database: new DatabaseSync(':memory:') }])
    await expect(sqliteStorage(options)).rejects.toThrow(/^sqliteStorage: option `path` must .*file.*memoryStorage/)
})

test('a directory is refused with what to do instead', async () => {
  const path = dirname(file())
  await expect(sqliteStorage({ path })).rejects.toMatchObject({
    code: 'unavailable',
    message: `${path} is a directory: name a file in it`,
  })
})

test('kill -9 at any moment loses nothing acknowledged, row or event', async () => {
  const path = file()
  const acknowledged: string[] = []
  for (let round = 0; round < 8; round++) {
    const child = startChild('sqlite-write-for-ever', [path, String(1 + round * 1_000_000)])
    await child.lines(20 + round * 9)
    await child.kill()
    acknowledged.push(...(await child.lines(0)))
  }
  const storage = await open({ path })
  const stored = await thingIds(storage)
  expect(acknowledged.length).toBeGreaterThan(200)
  expect(acknowledged.filter((id) => !stored.includes(id))).toEqual([])
  expect((await eventIds(path)).sort()).toEqual([...stored].sort())
})

test('two processes write to one file, and nothing is lost', async () => {
  const path = file()
  await open({ path })
  const children = [1, 1_000_001].map((first) => startChild('sqlite-write-for-ever', [path, String(first)]))
  for (const child of children) await child.lines(60)
  for (const child of children) await child.kill()
  const acknowledged = (await Promise.all(children.map((child) => child.lines(0)))).flat()
  const stored = new Set(await thingIds(await open({ path })))
  expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])
})
