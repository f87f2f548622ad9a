/** The table that the suite works on, one column of each type, and short ways to fill it. */
import type { EventRecord } from '../outbox/record.ts'
import { isStorageError, type Storage, type Tx } from '../storage/contract.ts'
import { boolean, id, integer, json, nullable, type RowIn, real, table, text, timestamp } from '../storage/table.ts'

export const notes = table(
  'suite_notes',
  {
    title: text(),
    folder: nullable(text()),
    slug: nullable(text()),
    author_id: nullable(id()),
    stock: integer(),
    weight: real(),
    pinned: boolean(),
    due_at: nullable(timestamp()),
    extra: json<unknown>(),
  },
  {
    unique: [['slug'], ['folder', 'title']],
    indexes: [['folder'], ['title'], ['stock']],
    searched: { column: 'title', holds: [] },
  },
)

export type Note = RowIn<typeof notes>

/** Who reads a note: a table that names rows of another one. */
export const readings = table(
  'suite_readings',
  { note_id: id(), reader: text() },
  { unique: [['note_id', 'reader']], indexes: [['reader', 'note_id']] },
)

export const suiteTables = [notes, readings]

const at = '2026-11-20T10:00:00.000Z'

/** A whole note. Omitted values are null, zero or empty; the title is made of the id, so that it is unique. */
export function note(values: Partial<Note> & Pick<Note, 'id'>): Note {
  return {
    network_id: '1',
    created_at: at,
    updated_at: at,
    title: `Note ${values.id}`,
    folder: null,
    slug: null,
    author_id: null,
    stock: 0,
    weight: 0,
    pinned: false,
    due_at: null,
    extra: {},
    ...values,
  }
}

/** An event with a distinct id. */
export function event(id: string): EventRecord {
  return {
    kind: 'event',
    network_id: '1',
    event_id: id,
    event_type: 'TagCreatedHook',
    event_timestamp: at,
    audience: 'integration',
    body: `{"event_id":"${id}","text":"ä \\"quoted\\" \\u2028"}`,
  }
}

/**
 * Runs a transaction, and runs it again while the storage throws `conflict`, as the contract requires of its callers.
 * @throws what `work` or the storage throws; a conflict too, when it does not end
 */
export async function transact<T>(storage: Storage, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await storage.transaction(work)
    } catch (error) {
      if (attempt === 200 || !isStorageError(error) || error.code !== 'conflict') throw error
    }
  }
}

/** Stores notes in one transaction. */
export function store(storage: Storage, ...rows: readonly Note[]): Promise<void> {
  return transact(storage, async (tx) => {
    for (const row of rows) await tx.insert(notes, row)
  })
}

/** All notes in the order of their ids, read from outside of any other transaction. */
export function everyNote(storage: Storage): Promise<Note[]> {
  return transact(storage, (tx) => tx.find(notes, {}))
}

/** The ids of notes, in their order. */
export function ids(rows: readonly Note[]): string[] {
  return rows.map(({ id }) => id)
}

/** Takes one off a note's stock unless it is empty; the guard is what keeps two takers apart. */
export async function takeOne(tx: Tx, id: string): Promise<boolean> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const row = await tx.get(notes, id)
    if (!row || row.stock <= 0) return false
    if (await tx.update(notes, id, { stock: row.stock - 1 }, { stock: row.stock })) return true
  }
  throw new Error('a guarded update never matched: its row keeps changing')
}

/** Lets other work run: until `settled` is, or for some turns of the event loop. */
export async function giveWay(settled: Promise<unknown>, turns = 20): Promise<void> {
  let done = false
  const finish = () => {
    done = true
  }
  settled.then(finish, finish)
  for (let turn = 0; turn < turns && !done; turn++) await new Promise((resolve) => setTimeout(resolve, 0))
}
