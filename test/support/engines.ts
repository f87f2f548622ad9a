/** The storage under the test communities: memory, unless `FOLKMOOT_TEST_STORAGE` names another engine (`scripts/test-on.ts`). */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { lowdbStorage } from '../../adapters/storage/lowdb.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { postgresStorage } from '../../adapters/storage/postgres.ts'
import { sqliteStorage } from '../../adapters/storage/sqlite.ts'
import type { OutboxRecord } from '../../lib/outbox/record.ts'
import type { OutboxWriter, Storage } from '../../lib/storage/contract.ts'

const engine = process.env['FOLKMOOT_TEST_STORAGE'] ?? 'memory'
const directories: string[] = []
let count = 0

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'folkmoot-engine-'))
  directories.push(directory)
  // With the test, after its storage is closed: what is registered first ends last. Of a whole file's storage, at the exit.
  try {
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  } catch {}
  return directory
}

// Tests do not close their communities one by one: in memory there is nothing to close.
process.on('exit', () => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
})

/** Closed with the test that opened it; one that a whole file shares stays open until its process ends. */
function closing(storage: Storage): Storage {
  try {
    onTestFinished(() => storage.close())
  } catch {}
  return storage
}

/** Tells `outbox` of what is appended, as soon as it is committed: an outbox that is a table is read elsewhere. */
function telling(storage: Storage, outbox: OutboxWriter): Storage {
  return {
    async transaction(work, options) {
      const records: OutboxRecord[] = []
      const result = await storage.transaction((tx) => {
        const append: typeof tx.append = (some) => {
          records.push(...some)
          return tx.append(some)
        }
        return work({ ...tx, append })
      }, options)
      if (records.length > 0) await outbox.append([records])
      return result
    },
    close: () => storage.close(),
  }
}

/** An empty storage of the engine under test. */
export async function testStorage(outbox: OutboxWriter): Promise<Storage> {
  if (engine === 'lowdb') return closing(await lowdbStorage({ path: join(newDirectory(), 'db.json'), outbox }))
  if (engine === 'sqlite') return telling(closing(await sqliteStorage({ path: join(newDirectory(), 'db.sqlite') })), outbox)
  if (engine === 'postgres') {
    const url = process.env['DATABASE_URL']
    if (!url) throw new Error('FOLKMOOT_TEST_STORAGE=postgres needs DATABASE_URL: run node scripts/test-on.ts postgres')
    const schema = `engine_${process.pid}_${++count}`
    return telling(closing(await postgresStorage({ url, schema, poolSize: 3 })), outbox)
  }
  return memoryStorage({ outbox })
}
