/** How far a pull is. It is kept in the target, so that another run continues there. */
import * as v from 'valibot'
import type { Storage, Tx } from '../../../../lib/storage/contract.ts'
import type { Id } from '../../../../lib/storage/table.ts'
import { noteOf, putNote } from './notes.ts'
import type { Facts } from './stage.ts'
import { type Counts, noCounts } from './write-records.ts'

/** Why a list was not read: the token may not, or the server does not have it. */
export type Unread = 'refused' | 'missing'

export interface State {
  /** The options of the run: another run with others starts over. */
  readonly asked: string
  /** The stages that are over. */
  readonly done: readonly string[]
  /** The stage under way. */
  readonly stage: string | null
  /** The ids of the last parents whose lists were read in it. */
  readonly after: readonly Id[]
  readonly counts: Readonly<Record<string, Counts>>
  readonly unread: Readonly<Record<string, Unread>>
  readonly facts: Facts
}

const CountsSchema = v.object({ read: v.number(), added: v.number(), changed: v.number(), removed: v.number(), left: v.number() })
const StateSchema = v.object({
  asked: v.string(),
  done: v.array(v.string()),
  stage: v.nullable(v.string()),
  after: v.array(v.string()),
  counts: v.record(v.string(), CountsSchema),
  unread: v.record(v.string(), v.picklist(['refused', 'missing'])),
  facts: v.object({ addressShown: v.boolean(), addressMasked: v.boolean() }),
})

export const newState = (asked: string): State => ({
  ...{ asked, done: [], stage: null, after: [], counts: {}, unread: {} },
  facts: { addressShown: false, addressMasked: false },
})

/** The state of an unfinished run; `undefined` without one. */
export async function stateIn(storage: Storage, network_id: Id): Promise<State | undefined> {
  const note = await storage.transaction((tx) => noteOf(tx, 'progress', network_id), { readOnly: true })
  if (!note) return undefined
  const read = v.safeParse(StateSchema, JSON.parse(note.body))
  return read.success ? read.output : undefined
}

export const saveState = (tx: Tx, network_id: Id, state: State): Promise<void> =>
  putNote(tx, 'progress', { key: network_id, about: network_id, body: JSON.stringify(state) })

export const sumOf = (a: Counts, b: Counts): Counts => ({
  read: a.read + b.read,
  added: a.added + b.added,
  changed: a.changed + b.changed,
  removed: a.removed + b.removed,
  left: a.left + b.left,
})

/** The state with more counts of a stage. */
export const counted = (state: State, stage: string, counts: Counts): State => ({
  ...state,
  counts: { ...state.counts, [stage]: sumOf(state.counts[stage] ?? noCounts(), counts) },
})
