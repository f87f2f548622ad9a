/** One stage of a pull: its list, or its list under each parent. */

import { isStorableId } from '../../../../lib/base/ids.ts'
import { isClientError } from '../../../../lib/client/index.ts'
import type { Tx } from '../../../../lib/storage/contract.ts'
import { scoped } from '../../../../lib/storage/scoped.ts'
import type { Row } from '../../../../lib/storage/table.ts'
import { segments } from '../../../../lib/storage/tables/custom-fields.ts'
import type { ApiRecord } from '../api-record.ts'
import { chunksOf, each, parentsOf, readsOf } from '../parents.ts'
import { noteGone } from './gone.ts'
import { removeNote } from './notes.ts'
import { type Pulling, write } from './pulling.ts'
import { type ReadList, readList } from './read-list.ts'
import type { Place, Stage } from './stage.ts'
import { counted, type State, saveState, sumOf, type Unread } from './state.ts'
import { noCounts, writeRecords } from './write-records.ts'

/** Parents whose lists are written in one transaction. */
const chunkSize = 24
/** Lists that are requested concurrently. */
const atOnce = 6

function placeOf({ ids, owner, state }: Pulling, stage: Stage, parents: readonly Row[]): Place {
  const params = Object.fromEntries(stage.parents.map(({ param }, index) => [param, parents[index]?.id ?? '']))
  // Rows are read here by the names of their columns.
  return { params, parents: parents as readonly unknown[] as readonly ApiRecord[], ids, owner, facts: state.facts }
}

/** Whether something about a row may have changed since a time: what belongs to an unchanged one is not requested. */
const isDue = (row: Row, since: string): boolean => {
  const { last_activity_at } = Object(row)
  return row.updated_at >= since || (typeof last_activity_at === 'string' && last_activity_at >= since)
}

/** Why a list cannot be read; `undefined` for any other failure. */
function unreadBy(error: unknown): Unread | undefined {
  if (!isClientError(error)) return undefined
  if (error.status === 403) return 'refused'
  return error.status === 404 || error.status === 405 || error.status === 501 ? 'missing' : undefined
}

/** Whether no one has a tag, or a badge: then the list of each member would be requested in vain. */
async function isUnused({ storage, network_id }: Pulling, { counted: kind }: Stage): Promise<boolean> {
  if (kind === undefined) return false
  const used = { kind, member_count: 0 }
  return storage.transaction(
    async (tx) => {
      const here = scoped(tx, network_id)
      return (await here.count(segments, { where: { kind } })) === (await here.count(segments, { where: used }))
    },
    { readOnly: true },
  )
}

/**
 * Runs a stage.
 * @param isBegun whether an earlier run may have begun with it
 * @throws ClientError, StorageError, UsageError
 */
export async function walkStage(pulling: Pulling, stage: Stage, isBegun: boolean): Promise<void> {
  const { storage, network_id, since } = pulling
  let isResumed = isBegun
  let [requested, responded] = [0, 0]
  const after = pulling.state.stage === stage.name && pulling.state.after.length > 0 ? pulling.state.after : undefined
  if (await isUnused(pulling, stage)) {
    await commit(pulling, stage, [{ place: placeOf(pulling, { ...stage, parents: [] }, []), ...nothing }], [])
  } else
    for await (const chunk of chunksOf(parentsOf(readsOf(storage, network_id), stage.parents, after), chunkSize)) {
      const isRequested = (parents: readonly Row[]): boolean =>
        parents.length === 0 || since === undefined || parents.some((row) => isDue(row, since))
      try {
        const lists = await each(chunk.filter(isRequested), atOnce, (parents, signal) =>
          readList(pulling, stage, placeOf(pulling, stage, parents), isResumed, signal),
        )
        await commit(pulling, stage, lists, chunk.at(-1) ?? [])
        requested += lists.length
        responded += lists.filter((list) => list !== undefined).length
      } catch (error) {
        const why = unreadBy(error)
        if (why === undefined) throw error
        pulling.state = { ...pulling.state, unread: { ...pulling.state.unread, [stage.name]: why } }
        break
      }
      isResumed = false
      pulling.onProgress(stage.name, pulling.state.counts[stage.name]?.read ?? 0)
    }
  // One record may go in between, but not all of them: the server has no such lists.
  if (requested > 0 && responded === 0 && pulling.state.unread[stage.name] === undefined)
    pulling.state = { ...pulling.state, unread: { ...pulling.state.unread, [stage.name]: 'missing' } }
  const done: State = { ...pulling.state, done: [...pulling.state.done, stage.name], stage: null, after: [] }
  await write(pulling, (tx) => saveState(tx, network_id, done))
  pulling.state = done
}

const nothing = { records: [], written: [], counts: noCounts(), notes: [] }

/** Writes lists that were read, the rows that are gone from them, and how far the stage is. */
async function commit(
  pulling: Pulling,
  stage: Stage,
  lists: readonly (ReadList | undefined)[],
  last: readonly Row[],
): Promise<void> {
  const { network_id, since } = pulling
  const work = async (tx: Tx): Promise<State> => {
    const here = scoped(tx, network_id)
    let counts = noCounts()
    for (const list of lists) {
      if (!list) continue
      const ids = await writeRecords(here, stage, list.records, list.place, counts, since)
      counts = sumOf(counts, list.counts)
      await noteGone(tx, network_id, stage, list.place, new Set([...list.written, ...ids]))
      for (const key of list.notes) await removeNote(tx, 'seen', key)
    }
    const after = last.map(({ id }) => id).filter(isStorableId)
    const state = counted({ ...pulling.state, stage: stage.name, after }, stage.name, counts)
    await saveState(tx, network_id, state)
    return state
  }
  pulling.state = await write(pulling, work)
}
