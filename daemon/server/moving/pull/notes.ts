/**
 * The notes of a pull in its target. They are written with the rows, so a pull that was killed continues where it was.
 *
 * Notes are rows of the table of idempotency keys that belong to no network. No request can reach them, and none clears them away.
 */
import type { Tx } from '../../../../lib/storage/contract.ts'
import { rowsOf } from '../../../../lib/storage/rows-of.ts'
import { type ScopedTx, scoped } from '../../../../lib/storage/scoped.ts'
import { idempotencyKeys } from '../../../../lib/storage/tables/administration.ts'
import { derivedId } from './ids.ts'

/** Kinds of notes: the source of a network, the progress, ids, the records that a list has shown, and rows that are gone. */
export type Kind = 'source' | 'progress' | 'id' | 'seen' | 'gone'

export interface Note {
  readonly key: string
  /** Its subject: notes of a kind are found by it. */
  readonly about: string
  readonly body: string
}

const noNetwork = '0'
const callerOf = (kind: Kind): string => `folkmoot pull: ${kind}`

const notesIn = (tx: Tx): ScopedTx => scoped(tx, noNetwork)

/** Writes a note, or replaces it. */
export async function putNote(tx: Tx, kind: Kind, { key, about, body }: Note): Promise<void> {
  const id = derivedId('note', kind, key)
  const notes = notesIn(tx)
  if (await notes.update(idempotencyKeys, id, { fingerprint: about, body })) return
  const at = new Date().toISOString()
  const row = { id, created_at: at, updated_at: at, caller: callerOf(kind), key, fingerprint: about, status: 0, body }
  await notes.insert(idempotencyKeys, row)
}

export async function noteOf(tx: Tx, kind: Kind, key: string): Promise<Note | undefined> {
  const row = await notesIn(tx).get(idempotencyKeys, derivedId('note', kind, key))
  return row && { key: row.key, about: row.fingerprint, body: row.body }
}

export async function notesAbout(tx: Tx, kind: Kind, about: string): Promise<readonly Note[]> {
  const notes: Note[] = []
  for await (const row of rowsOf(notesIn(tx), idempotencyKeys, { caller: callerOf(kind), fingerprint: about }))
    notes.push({ key: row.key, about, body: row.body })
  return notes
}

/** Removes the notes of a kind about a network: keys begin with its id. */
export async function clearNotes(tx: Tx, kind: Kind, network_id: string): Promise<void> {
  const notes = notesIn(tx)
  for await (const { id, key } of rowsOf(notes, idempotencyKeys, { caller: callerOf(kind) }))
    if (key.startsWith(`${network_id} `)) await notes.remove(idempotencyKeys, id)
}

export const removeNote = (tx: Tx, kind: Kind, key: string): Promise<unknown> =>
  notesIn(tx).remove(idempotencyKeys, derivedId('note', kind, key))
