/** Shared by the lowdb tests: a file for each test, a table, and rows for it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LowdbOptions, lowdbStorage } from '../../../../adapters/storage/lowdb.ts'
import type { EventRecord } from '../../../../lib/outbox/record.ts'
import type { Storage } from '../../../../lib/storage/contract.ts'
import { integer, type RowIn, table, text } from '../../../../lib/storage/table.ts'
import type { StorageUnderTest } from '../../../../lib/testing/index.ts'
import { recordingOutbox } from '../recording-outbox.ts'

/** A storage whose file and outbox the suite may look into and open again. */
export async function lowdbInDirectory(): Promise<StorageUnderTest> {
  const directory = await mkdtemp(join(tmpdir(), 'folkmoot-'))
  const outbox = recordingOutbox()
  const open = () => lowdbStorage({ path: join(directory, 'db.json'), outbox })
  return {
    storage: await open(),
    records: outbox.records,
    reopen: open,
    dispose: () => rm(directory, { recursive: true }),
  }
}

/** Opens a file, without a word on the console. */
export function openLowdb(options: Partial<LowdbOptions> & Pick<LowdbOptions, 'path'>): Promise<Storage> {
  return lowdbStorage({ outbox: recordingOutbox(), warn: () => {}, ...options })
}

export const things = table('things', { name: text(), size: integer() }, { unique: [['name']] })

export type Thing = RowIn<typeof things>

/** A row whose name is made of its id. */
export function thing(id: number | string, values: Partial<Thing> = {}): Thing {
  const at = '2026-11-20T10:00:00.000Z'
  return { id: String(id), network_id: '1', created_at: at, updated_at: at, name: `Thing ${id}`, size: 0, ...values }
}

/** Stores one thing. */
export const insert = (storage: Storage, row: Thing) => storage.transaction((tx) => tx.insert(things, row))

/** The ids of every thing. */
export const thingIds = (storage: Storage) =>
  storage.transaction(async (tx) => (await tx.find(things, {})).map(({ id }) => id), { readOnly: true })

/** An event whose id is that of a thing. */
export function wordOf(id: string): EventRecord {
  return {
    kind: 'event',
    network_id: '1',
    event_id: id,
    event_type: 'TagCreatedHook',
    event_timestamp: '2026-11-20T10:00:00.000Z',
    audience: 'integration',
    body: '{}',
  }
}

/** Stores one thing and appends its event to the outbox, in one transaction. */
export function insertAndTell(storage: Storage, row: Thing): Promise<void> {
  return storage.transaction(async (tx) => {
    await tx.insert(things, row)
    await tx.append([wordOf(row.id)])
  })
}
