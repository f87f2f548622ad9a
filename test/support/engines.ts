/**
 * The storage under the test communities: memory, unless `FOLKMOOT_TEST_STORAGE` names another engine. The generated tests of
 * `test/contract` run on all four (`vitest.config.ts`), any others with `scripts/test-on.ts`.
 */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, inject, onTestFinished } from 'vitest'
import { sqliteDialect } from '../../adapters/sql/sqlite/dialect.ts'
import { lowdbStorage } from '../../adapters/storage/lowdb.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { postgresStorage } from '../../adapters/storage/postgres.ts'
import { sqliteStorage } from '../../adapters/storage/sqlite.ts'
import type { OutboxRecord } from '../../lib/outbox/record.ts'
import type { OutboxWriter, Storage, Tx } from '../../lib/storage/contract.ts'
import { tables } from '../../lib/storage/tables.ts'
import { postgresAddress, uniqueName } from './postgres.ts'
import { wrappedStorage } from './storage.ts'

export const engine = process.env['FOLKMOOT_TEST_STORAGE'] ?? 'memory'
const directories: string[] = []

function anyDirectory(): string {
  const directory = mkdtempSync(join(inject('directory') ?? tmpdir(), 'folkmoot-engine-'))
  directories.push(directory)
  return directory
}

function newDirectory(): string {
  const directory = anyDirectory()
  // After its storage is closed: what is registered first ends last.
  withTest(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/**
 * At the end of the test, if there is one; for what a whole file shares, after the last of its tests. A script has neither, and
 * ends with its process.
 */
export function withTest(work: () => unknown): void {
  const end = async () => void (await work())
  try {
    onTestFinished(end)
  } catch (error) {
    try {
      afterAll(end)
    } catch {
      if (isTest()) throw error
    }
  }
}

/** Whether Vitest runs this process. */
const isTest = (): boolean => '__vitest_worker__' in globalThis

// Storages that one test has after the other stay open.
process.on('exit', () => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
})

/** Closed with the test, or the file, that opened it. */
function closing(storage: Storage): Storage {
  withTest(() => storage.close())
  return storage
}

/** Gives `outbox` the records as soon as they are committed: an outbox that is a table is read elsewhere. */
export function telling(storage: Storage, outbox: OutboxWriter): Storage {
  async function heard<T>(work: (tx: Tx) => Promise<T>, run: (heard: (tx: Tx) => Promise<T>) => Promise<T>): Promise<T> {
    let records: OutboxRecord[] = []
    const result = await run((tx) => {
      // The work may have run before.
      records = []
      const append: typeof tx.append = (some) => {
        for (const record of some) records.push(record)
        return tx.append(some)
      }
      return work({ ...tx, append })
    })
    if (records.length > 0) await outbox.append([records])
    return result
  }
  return {
    transaction: (work, options) => heard(work, (asked) => storage.transaction(asked, options)),
    close: () => storage.close(),
  }
}

/** An empty storage of the engine under test. On SQL tests take turns with it: its tables cost more than most tests. */
export async function testStorage(outbox: OutboxWriter): Promise<Storage> {
  if (engine === 'memory') return memoryStorage({ outbox })
  if (engine === 'lowdb') return closing(await lowdbStorage({ path: join(newDirectory(), 'db.json'), outbox }))
  empty ??= copiesOf(async () => {})
  return (await empty)(outbox)
}

let empty: Promise<Copies> | undefined

async function server() {
  return { url: await postgresAddress(), poolSize: 3 }
}

/** Storages that begin with the same rows. */
export type Copies = (outbox: OutboxWriter) => Promise<Storage>

/**
 * Fills a storage of the engine under test once, for copies that cost much less than filling each.
 * @param fill is given the storage; no one is notified of the events
 */
export async function copiesOf(fill: (storage: Storage) => Promise<void>): Promise<Copies> {
  if (engine === 'postgres') return copiesOnPostgres(fill)
  const template = join(anyDirectory(), 'template')
  const storage =
    engine === 'lowdb' ? await lowdbStorage({ path: template, outbox: silent }) : await sqliteStorage({ path: template })
  await fill(storage)
  await storage.close()
  if (engine === 'sqlite') return copiesOnSqlite(template)
  return async (outbox) => {
    const path = join(newDirectory(), 'db')
    copyFileSync(template, path)
    return closing(await lowdbStorage({ path, outbox }))
  }
}

const silent: OutboxWriter = { append: async () => {}, close: async () => {} }

async function copiesOnPostgres(fill: (storage: Storage) => Promise<void>): Promise<Copies> {
  const template = uniqueName('engine')
  const filled = await postgresStorage({ ...(await server()), schema: template })
  await fill(filled)
  await filled.close()
  return usedAgain(async () => {
    const schema = uniqueName('engine')
    const database = await postgresStorage({ ...(await server()), schema })
    const run = (text: string) =>
      database.transaction((tx) => (tx.native as { query(text: string): Promise<unknown> }).query(text))
    return {
      database,
      written: tables.map(({ name }) => name),
      putBack: (name) =>
        `DELETE FROM "${schema}"."${name}"; INSERT INTO "${schema}"."${name}" SELECT * FROM "${template}"."${name}"`,
      run,
    }
  })
}

/** The writing connection keeps the rows of the template in temporary tables. */
async function copiesOnSqlite(template: string): Promise<Copies> {
  return usedAgain(async () => {
    const path = join(anyDirectory(), 'db')
    copyFileSync(template, path)
    const database = await sqliteStorage({ path })
    const run = (text: string) => database.transaction(async (tx) => (tx.native as { exec(text: string): void }).exec(text))
    await run(
      tables.map(({ name }) => `CREATE TEMP TABLE "seeded_${name}" AS SELECT * FROM ${sqliteDialect.table(name)}`).join(';'),
    )
    return {
      database,
      written: [],
      putBack: (name) =>
        `DELETE FROM ${sqliteDialect.table(name)}; INSERT INTO ${sqliteDialect.table(name)} SELECT * FROM "seeded_${name}"`,
      run,
    }
  })
}

/** A storage that one test after the other may have. */
interface Used {
  readonly database: Storage
  /** The tables that are not as the template has them. */
  readonly written: readonly string[]
  /** The statements that make a table as the template has it. */
  putBack(table: string): string
  run(statements: string): Promise<unknown>
}

/** One storage for each copy that is in use at a time. Before its next test, the tables that were written to are put back. */
function usedAgain(make: () => Promise<Used>): Copies {
  const free: (() => Promise<Storage>)[] = []

  async function another(): Promise<() => Promise<Storage>> {
    const used = await make()
    const written = new Set(used.written)
    function noted<T extends { readonly name: string }>(table: T): T {
      written.add(table.name)
      return table
    }
    const storage = wrappedStorage(used.database, {
      tx: (tx) => ({
        insert: (table, row) => tx.insert(noted(table), row),
        update: (table, id, patch, guard) => tx.update(noted(table), id, patch, guard),
        increment: (table, id, by, guard) => tx.increment(noted(table), id, by, guard),
        remove: (table, id, guard) => tx.remove(noted(table), id, guard),
      }),
    })
    return async () => {
      const statements = [...written].map(used.putBack)
      written.clear()
      if (statements.length > 0) await used.run(statements.join(';'))
      return storage
    }
  }

  return async (outbox) => {
    const refreshed = free.pop() ?? (await another())
    const storage = await refreshed()
    withTest(() => free.push(refreshed))
    // A test may close its community. The storage is for the next one, too.
    return telling({ ...storage, close: async () => {} }, outbox)
  }
}
