/** What the SQLite tests share: a file of its own, and what its outbox holds. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteOutbox, sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import type { OutboxRecord } from '../../../lib/outbox/record.ts'
import type { StorageUnderTest, TableDefinition } from '../../../lib/testing/index.ts'

/** Everything that waits in the outbox of a file. */
export async function recordsIn(path: string): Promise<readonly OutboxRecord[]> {
  const source = await sqliteOutbox(path)
  try {
    const records: OutboxRecord[] = []
    for (let positions = {}, more = true; more; ) {
      const reading = await source.read(positions, 1024 * 1024)
      records.push(...reading.commits.flat())
      positions = { ...positions, ...reading.positions }
      more = reading.more
    }
    return records
  } finally {
    await source.close()
  }
}

/** A directory of its own for one test. */
export async function temporaryDirectory() {
  const directory = await mkdtemp(join(tmpdir(), 'folkmoot-'))
  return { path: join(directory, 'db.sqlite'), directory, remove: () => rm(directory, { recursive: true }) }
}

/** A storage whose file and outbox the suite may look into and open again. */
export async function sqliteInDirectory(tables: readonly TableDefinition[]): Promise<StorageUnderTest> {
  const { path, remove } = await temporaryDirectory()
  const open = () => sqliteStorage({ path, tables })
  return { storage: await open(), records: () => recordsIn(path), reopen: open, dispose: remove }
}
