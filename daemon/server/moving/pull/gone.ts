/**
 * Rows that the source does not show any more. They are noted as the lists are read, and taken away at the end: what refers to a
 * row goes first.
 */
import * as v from 'valibot'
import { removeWithDependents } from '../../../../lib/storage/cascade.ts'
import type { Tx, Where } from '../../../../lib/storage/contract.ts'
import { batchesOf } from '../../../../lib/storage/rows-of.ts'
import { scoped } from '../../../../lib/storage/scoped.ts'
import type { Id, Row } from '../../../../lib/storage/table.ts'
import { notesAbout, putNote, removeNote } from './notes.ts'
import { type Pulling, write } from './pulling.ts'
import { labelOf } from './read-list.ts'
import type { Place, Stage } from './stage.ts'
import { counted, saveState } from './state.ts'
import { noCounts } from './write-records.ts'

const Gone = v.object({ stage: v.string(), params: v.record(v.string(), v.string()), ids: v.array(v.string()) })
type Gone = v.InferOutput<typeof Gone>

/** Rows that one note names. */
const most = 500

/** Notes the rows that a list should show, and does not. */
export async function noteGone(tx: Tx, network_id: Id, stage: Stage, { params }: Place, seen: ReadonlySet<Id>): Promise<void> {
  const ids: Id[] = []
  for await (const rows of batchesOf(scoped(tx, network_id), stage.table, stage.shown({ params })))
    for (const { id } of rows) if (!seen.has(id)) ids.push(id)
  const label = labelOf(network_id, stage, { params })
  for (let begin = 0; begin < ids.length; begin += most) {
    const gone: Gone = { stage: stage.name, params: { ...params }, ids: ids.slice(begin, begin + most) }
    await putNote(tx, 'gone', { key: `${label} ${begin}`, about: network_id, body: JSON.stringify(gone) })
  }
}

/** Whether a row is still one that the list should show: a later list may have shown it in another state. */
const isShown = (row: Row, where: Where<Row>): boolean =>
  Object.entries(where).every(([name, wanted]) => {
    const value: unknown = Object(row)[name]
    return Array.isArray(wanted) ? wanted.includes(value) : wanted === value
  })

/** Takes away what was noted, the last stage first. */
export async function removeGone(pulling: Pulling, stages: readonly Stage[]): Promise<void> {
  const { storage, network_id } = pulling
  const notes = await storage.transaction((tx) => notesAbout(tx, 'gone', network_id), { readOnly: true })
  for (const stage of stages.toReversed())
    for (const { key, body } of notes) {
      const gone = v.parse(Gone, JSON.parse(body))
      if (gone.stage !== stage.name) continue
      pulling.state = await write(pulling, async (tx) => {
        const removed = await removeRows(tx, network_id, stage, gone)
        await removeNote(tx, 'gone', key)
        const state = counted(pulling.state, stage.name, { ...noCounts(), removed })
        await saveState(tx, network_id, state)
        return state
      })
    }
}

async function removeRows(tx: Tx, network_id: Id, stage: Stage, { params, ids }: Gone): Promise<number> {
  const here = scoped(tx, network_id)
  const where = stage.shown({ params })
  let removed = 0
  for (const id of ids) {
    const row = await here.get(stage.table, id)
    if (!row || !isShown(row, where)) continue
    const isAway = stage.gone ? await stage.gone(here, row) : (await removeWithDependents(here, stage.table, id)) !== undefined
    if (isAway) removed++
  }
  return removed
}
