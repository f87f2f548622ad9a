/** When commits to a SQLite file are told and shown: after the sync of its log, which runs beside the event loop. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { Statement } from '../../../../adapters/sql/statement.ts'
import { type LogFile, logOver, openLogFile } from '../../../../adapters/storage/sqlite/log.ts'
import { type SqliteOptions, sqliteOutbox, sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import { table, text } from '../../../../lib/storage/table.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { insertAndTell, thing, thingIds, things } from '../things.ts'

const others = table('others', { title: text() })
const long = { timeout: 60_000 }

/** A file and its storage. Each sync of the log is what `sync` makes of the real one. */
async function open(sync: (real: () => Promise<void>) => Promise<void>, options: SqliteOptions = {}) {
  const path = join(temporaryDirectory(), 'db.sqlite')
  const openLog = logWith(sync)
  const storage = await sqliteStorage({ path, tables: [things, others], openLog, ...options })
  onTestFinished(() => storage.close())
  return { path, storage }
}

const logWith =
  (sync: (real: () => Promise<void>) => Promise<void>) =>
  async (path: string): Promise<LogFile | undefined> => {
    const file = await openLogFile(path)
    return file && { datasync: () => sync(() => file.datasync()), close: () => file.close() }
  }

/** Syncs that wait until the test releases them. */
function held() {
  const begun: (() => void)[] = []
  const sync = async (real: () => Promise<void>) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    begun.push(resolve)
    await promise
    await real()
  }
  const release = () => begun.shift()?.()
  return { begun, sync, release }
}

function committedIn(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 60_000 })
  const row = database.prepare('SELECT count(*) AS count FROM folkmoot_things').get()
  database.close()
  return Number(row?.['count'])
}

test('a commit is reported when its log is on the disk, and the next group works during the sync', async () => {
  const syncs = held()
  const inserts: string[] = []
  const onStatement = ({ sql }: Statement) => {
    if (sql.startsWith('INSERT INTO "folkmoot_things"')) inserts.push(sql)
  }
  const { path, storage } = await open(syncs.sync, { onStatement })
  const told: number[] = []
  const first = insertAndTell(storage, 1).then(() => told.push(1))
  await expect.poll(() => syncs.begun.length, long).toBe(1)
  const second = insertAndTell(storage, 2).then(() => told.push(2))
  await expect.poll(() => inserts.length, long).toBe(2)
  expect(told).toEqual([])
  syncs.release()
  await first
  // The second one commits after this sync had begun, so it waits for another one.
  await expect.poll(() => committedIn(path), long).toBe(2)
  await expect.poll(() => syncs.begun.length, long).toBe(1)
  expect(told).toEqual([1])
  syncs.release()
  await second
  expect(told).toEqual([1, 2])
})

test('a group is committed while transactions arrive in every turn, unless a sync runs', async () => {
  const syncs = held()
  let groups = 0
  const onStatement = ({ sql }: Statement) => {
    if (sql.startsWith('INSERT INTO "folkmoot_outbox"')) groups += 1
  }
  const { storage } = await open(syncs.sync, { onStatement })
  const writing: Promise<unknown>[] = []
  const arrive = async (turns: number) => {
    for (let turn = 0; turn < turns; turn++) {
      writing.push(insertAndTell(storage, writing.length + 1))
      await setImmediate()
    }
  }
  await arrive(60)
  expect(groups).toBe(1)
  syncs.release()
  await expect.poll(() => syncs.begun.length, long).toBe(1)
  expect(groups).toBe(2)
  syncs.release()
  await Promise.all(writing)
})

test('a read of a table waits for its commits to be on the disk, and a read of another table does not', async () => {
  const syncs = held()
  const { path, storage } = await open(syncs.sync)
  const writing = insertAndTell(storage, 1)
  await expect.poll(() => committedIn(path), long).toBe(1)
  let isShown = false
  const reading = thingIds(storage).finally(() => {
    isShown = true
  })
  expect(await storage.transaction((tx) => tx.count(others, {}), { readOnly: true })).toBe(0)
  expect(isShown).toBe(false)
  syncs.release()
  await writing
  expect(await reading).toEqual(['1'])
})

test('after a failed sync nothing is reported as written before the log has moved into the file', async () => {
  let fails = true
  const statements: string[] = []
  const sync = async (real: () => Promise<void>) => {
    if (fails) throw Object.assign(new Error('input/output error'), { code: 'EIO', syscall: 'fdatasync' })
    await real()
  }
  const { path, storage } = await open(sync, { busyTimeoutMs: 50, onStatement: ({ sql }) => statements.push(sql) })
  await expect(insertAndTell(storage, 1)).rejects.toMatchObject({ code: 'unknown' })
  fails = false

  // Someone who reads an earlier state keeps the log from being emptied.
  const reader = new DatabaseSync(path, { timeout: 60_000 })
  onTestFinished(() => reader.close())
  reader.exec('BEGIN; SELECT count(*) FROM folkmoot_things')
  reader.prepare('SELECT count(*) FROM folkmoot_things').get()
  await expect(insertAndTell(storage, 2)).rejects.toMatchObject({ code: 'unavailable' })
  reader.exec('COMMIT')

  const before = statSync(`${path}-wal`).size
  await insertAndTell(storage, 3)
  expect(statSync(`${path}-wal`).size).toBeLessThan(before)
  const emptied = statements.filter((sql) => sql.includes('TRUNCATE')).length
  await insertAndTell(storage, 4)
  expect(statements.filter((sql) => sql.includes('TRUNCATE'))).toHaveLength(emptied)
  expect(await thingIds(storage)).toEqual(['1', '3', '4'])
})

test('the relay takes an event from the outbox when its commit is on the disk, and after a failed sync again', async () => {
  const { path, storage } = await open((real) => real())
  await insertAndTell(storage, 1)
  let fails = true
  let syncs = 0
  const openLog = logWith(async (real) => {
    syncs += 1
    if (fails) throw Object.assign(new Error('input/output error'), { code: 'EIO', syscall: 'fdatasync' })
    await real()
  })
  const outbox = await sqliteOutbox(path, false, openLog)
  onTestFinished(() => outbox.close())
  await expect(outbox.read({}, 1_000_000)).rejects.toMatchObject({ code: 'unavailable' })
  fails = false
  const { commits, positions } = await outbox.read({}, 1_000_000)
  expect(commits.flat()).toHaveLength(1)
  expect(syncs).toBe(2)
  // Where nothing is read, nothing is synced.
  await outbox.read(positions, 1_000_000)
  expect(syncs).toBe(2)
})

test('a write that changes nothing syncs nothing', async () => {
  let syncs = 0
  const { storage } = await open((real) => {
    syncs += 1
    return real()
  })
  await insertAndTell(storage, 1)
  const look = () => storage.transaction((tx) => tx.get(things, '1'))
  // The first one cannot tell whether other processes have committed before.
  await look()
  const before = syncs
  expect(await look()).toMatchObject({ id: '1' })
  await expect(storage.transaction(() => Promise.reject(new RangeError('refused')))).rejects.toThrow('refused')
  expect(syncs).toBe(before)
})

test('a read gets a response when commits of other processes are on the disk that it may have seen', async () => {
  const [theirs, ours] = [held(), held()]
  const { path, storage } = await open(theirs.sync)
  const other = await sqliteStorage({ path, tables: [things, others], openLog: logWith(ours.sync) })
  onTestFinished(() => other.close())
  const writing = insertAndTell(storage, 1)
  await expect.poll(() => committedIn(path), long).toBe(1)
  let isTold = false
  const look = () => other.transaction((tx) => tx.get(things, '1'))
  const looking = look().finally(() => {
    isTold = true
  })
  await expect.poll(() => ours.begun.length, long).toBe(1)
  expect(isTold).toBe(false)
  ours.release()
  expect(await looking).toMatchObject({ id: '1' })
  // Nothing was committed since.
  expect(await look()).toMatchObject({ id: '1' })
  expect(ours.begun).toHaveLength(0)
  theirs.release()
  await writing
})

test('the log is closed behind the sync that runs and the one that waits', async () => {
  const syncs = held()
  const steps: string[] = []
  const datasync = () => syncs.sync(async () => void steps.push('synced'))
  const log = logOver({ datasync, close: async () => void steps.push('closed') }, 'db.sqlite')
  const both = [log.synced(), log.synced()]
  const closing = log.close()
  syncs.release()
  await both[0]
  await expect.poll(() => syncs.begun, long).toHaveLength(1)
  syncs.release()
  await Promise.all([...both, closing])
  expect(steps).toEqual(['synced', 'synced', 'closed'])
})

test('the log is small again when someone who read an old snapshot for long has left', long, async () => {
  const { path, storage } = await open((real) => real())
  let last = 0
  const write = (count: number) =>
    storage.transaction(async (tx) => {
      for (let place = 0; place < count; place++) await tx.insert(things, thing(++last, { label: 'x'.repeat(200_000) }))
    })
  await write(1)
  const reader = new DatabaseSync(path, { readOnly: true })
  onTestFinished(() => void (reader.isOpen && reader.close()))
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM sqlite_schema').get()
  for (let commit = 0; commit < 15; commit++) await write(10)
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(24 * 1024 * 1024)
  reader.close()
  for (let commit = 0; commit < 3; commit++) await write(1)
  expect(statSync(`${path}-wal`).size).toBeLessThanOrEqual(16 * 1024 * 1024)
})
