/** A small table, and rows and events for it, that tests of every database use. */
import type { EventRecord } from '../../../lib/outbox/record.ts'
import type { Storage, Tx } from '../../../lib/storage/contract.ts'
import { integer, nullable, type RowIn, table, text } from '../../../lib/storage/table.ts'

export const things = table('things', { name: text(), size: integer(), label: nullable(text()) }, { unique: [['name']] })

export type Thing = RowIn<typeof things>

/** A row whose name is made of its id. */
export function thing(id: number | string, values: Partial<Thing> = {}): Thing {
  const at = '2026-11-20T10:00:00.000Z'
  return { id: String(id), network_id: '1', created_at: at, updated_at: at, name: `Thing ${id}`, size: 0, label: null, ...values }
}

/** An event whose id is that of a thing. */
export function wordOf(id: number | string): EventRecord {
  return {
    kind: 'event',
    network_id: '1',
    event_id: String(id),
    event_type: 'TagCreatedHook',
    event_timestamp: '2026-11-20T10:00:00.000Z',
    audience: 'integration',
    body: '{}',
  }
}

/** Stores a thing and records its event, in a transaction that is open. */
export async function storeAndTell(tx: Tx, id: number | string): Promise<void> {
  await tx.insert(things, thing(id))
  await tx.append([wordOf(id)])
}

/** The same in a separate transaction. */
export const insertAndTell = (storage: Storage, id: number | string): Promise<void> =>
  storage.transaction((tx) => storeAndTell(tx, id))

export const thingIds = (storage: Storage): Promise<string[]> =>
  storage.transaction(async (tx) => (await tx.find(things, {})).map(({ id }) => id), { readOnly: true })
