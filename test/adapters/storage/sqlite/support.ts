/** Shared by the SQLite tests: a file for each. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteOutbox, sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import type { StorageUnderTest, TableDefinition } from '../../../../lib/testing/index.ts'
import { recordsOf } from '../records-of.ts'

/** A separate directory for one test. */
export async function temporaryDirectory() {
  const directory = await mkdtemp(join(tmpdir(), 'folkmoot-'))
  return { path: join(directory, 'db.sqlite'), directory, remove: () => rm(directory, { recursive: true }) }
}

/** A storage whose file and outbox the suite may look into and open again. */
export async function sqliteInDirectory(tables: readonly TableDefinition[]): Promise<StorageUnderTest> {
  const { path, remove } = await temporaryDirectory()
  const open = () => sqliteStorage({ path, tables })
  return { storage: await open(), records: async () => recordsOf(await sqliteOutbox(path)), reopen: open, dispose: remove }
}
