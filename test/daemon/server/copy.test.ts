/** `folkmoot copy`: everything of one storage into another. */
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { postgresOutbox, postgresStorage } from '../../../adapters/storage/postgres.ts'
import { sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import { copyTables, endCopy } from '../../../daemon/server/storage/copy-tables.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import type { Row, Table } from '../../../lib/storage/table.ts'
import { tables } from '../../../lib/storage/tables.ts'
import { recordsOf } from '../../adapters/storage/records-of.ts'
import { begun } from '../../support/begun.ts'
import { run } from '../../support/command.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { testPostgres } from '../../support/postgres.ts'
import { ended } from '../../support/program.ts'
import { createSeededCommunity } from '../../support/seed.ts'
import { wrappedStorage } from '../../support/storage.ts'

const server = await testPostgres()

const everything = (storage: Storage) =>
  storage.transaction(async (tx) => {
    const all: Record<string, unknown> = {}
    for (const table of tables as readonly Table<Row>[]) all[table.name] = await tx.find(table, {})
    return all
  })

async function emptySqlite(): Promise<Storage> {
  const storage = await sqliteStorage({ path: join(temporaryDirectory(), 'db.sqlite') })
  onTestFinished(() => storage.close())
  return storage
}

test('a network arrives whole, from memory over SQLite into PostgreSQL', async () => {
  const seeded = await createSeededCommunity({ storage: memoryStorage() })
  const sqlite = await emptySqlite()
  const schema = server.newSchema()
  const postgres = await postgresStorage({ url: server.url, schema })
  onTestFinished(() => postgres.close())
  await copyTables(seeded.storage, sqlite, 'memory')
  await endCopy(sqlite)
  await copyTables(sqlite, postgres, 'sqlite')
  await endCopy(postgres)
  expect(await everything(postgres)).toEqual(await everything(seeded.storage))
})

test('an interrupted copy resumes where it was, and brings no row twice', async () => {
  const { storage: from } = await createSeededCommunity({ storage: memoryStorage() })
  const to = await emptySqlite()
  let writes = 0
  const breaking = wrappedStorage(to, {
    transaction: (work, options) => {
      if (!options?.readOnly && ++writes === 8) throw new Error('the power went')
      return to.transaction(work, options)
    },
  })
  await expect(copyTables(from, breaking, 'memory')).rejects.toThrow('the power went')
  const seen: number[] = []
  const counts = await copyTables(from, to, 'memory', ({ copied }) => void seen.push(copied))
  await endCopy(to)
  expect(await everything(to)).toEqual(await everything(from))
  expect(seen.at(-1)).toBe(Object.values(counts).reduce((sum, count) => sum + count, 0))
  // It did not begin at the beginning.
  expect(seen[0]).toBeGreaterThan(20)
})

test('copy refuses a non-empty target, and the unfinished copy of another source', async () => {
  const { storage: from } = await createSeededCommunity({ storage: memoryStorage() })
  const { storage: filled } = await createSeededCommunity({ storage: await emptySqlite() })
  await expect(copyTables(from, filled, 'memory')).rejects.toThrow(/not empty, these tables hold rows: networks 1, api_keys 1/)
  const begun = await emptySqlite()
  await copyTables(from, begun, 'memory')
  await expect(copyTables(from, begun, 'another')).rejects.toThrow(/unfinished copy of memory/)
})

test('an empty source is refused: most likely its name is wrong', async () => {
  await expect(copyTables(memoryStorage(), await emptySqlite(), 'memory')).rejects.toThrow(/source is empty/)
})

test('counts that differ in the end are told', async () => {
  const { storage: from } = await createSeededCommunity({ storage: memoryStorage() })
  const losing = wrappedStorage(from, { tx: (tx) => ({ find: async (table, query) => (await tx.find(table, query)).slice(1) }) })
  await expect(copyTables(losing, await emptySqlite(), 'memory')).rejects.toThrow(
    /counts of source and target differ \(networks 1 and 0/,
  )
})

test('folkmoot copy takes a lowdb file into PostgreSQL, and the relay there is notified of the endpoints', async () => {
  const from = `lowdb:${join(temporaryDirectory(), 'db.json')}`
  const schema = server.newSchema()
  const to = `${server.url}?schema=${schema}`
  const api = begun('serve', '--storage', from, '--demo', '--allow-http', '--json', '--port', '0')
  await api.firstLine()
  await api.stop()
  const endpoint = ['--network', 'demo', '--url', 'https://hooks.example.org/in', '--token', 'k']
  expect((await ended('folkmoot', 'endpoints', 'add', '--storage', from, ...endpoint)).code).toBe(0)

  const first = run('folkmoot', 'copy', '--from', from, '--to', to, '--json')
  expect(await first.ended).toBe(0)
  const report = JSON.parse(first.out.stdout)
  expect(report.tables).toMatchObject({ networks: 1, members: 60 })
  expect(first.out.stderr).toContain('rows, members')
  const records = await recordsOf(await postgresOutbox({ url: server.url, schema }))
  expect(records).toEqual([expect.objectContaining({ kind: 'endpoint', url: 'https://hooks.example.org/in' })])
  const newest = await ended('folkmoot', 'audit', 'list', '--storage', to, '--limit', '1', '--json')
  expect(JSON.parse(newest.stdout)).toMatchObject({ action: 'endpoints.republished', actor: expect.stringMatching(/^cli:./) })

  const second = await ended('folkmoot', 'copy', '--from', from, '--to', to)
  expect(second.code).toBe(2)
  expect(second.stderr).toMatch(/^folkmoot: the target is not empty/)
})
