/** The rows of a storage, in the order in which they are sent. */
import { isClientError } from '../../../../lib/client/index.ts'
import { rowsOf } from '../../../../lib/storage/rows-of.ts'
import type { Row } from '../../../../lib/storage/table.ts'
import { textOf } from '../given.ts'
import { LeftOut, type PushStage } from './push-stage.ts'
import { isForbidden, labelOf, type Sending, sendRow } from './send-row.ts'
import type { PushedList, Tally } from './tally.ts'

/** Stages whose rows are sent in one order. */
type Run = readonly [PushStage, ...PushStage[]]

/** The stages, those together whose records are in one list of the server. */
export function runsOf(wanted: readonly PushStage[]): Run[] {
  const runs: [PushStage, ...PushStage[]][] = []
  for (const stage of wanted) {
    const last = runs.at(-1)
    if (stage.isInFeed && last?.[0].isInFeed) last.push(stage)
    else runs.push([stage])
  }
  return runs
}

/** Sends the rows of a run in their order. */
export async function walk(push: Sending, run: Run, tally: Tally, now: () => void): Promise<void> {
  const [first, ...others] = run
  const visits = new Map(run.map((stage) => [stage, visitOf(push, stage, tally, now)]))
  await unlessUnsent(tally.list(first), async () => {
    const where = others.length === 0 ? (first.where ?? {}) : {}
    const rows = first.rows ? first.rows(push) : rowsOf(push.reads, first.table, where)
    for await (const row of rows) {
      const stage = others.length === 0 ? first : run.find((one) => isAmong(one, row))
      if (stage) await unlessUnsent(tally.list(stage), async () => visits.get(stage)?.(row))
      if (run.every((one) => tally.list(one).unsent)) return
    }
  })
}

const isAmong = ({ where = {} }: PushStage, row: Row): boolean =>
  Object.entries(where).every(([name, value]) => Object(row)[name] === value)

/** Works on a list until the server refuses all of it, or has no such list. */
async function unlessUnsent(list: PushedList, work: () => Promise<void>): Promise<void> {
  if (list.unsent) return
  try {
    await work()
  } catch (error) {
    if (!isClientError(error)) throw error
    list.unsent = isForbidden(error) ? 'refused' : [404, 405, 501].includes(error.status ?? 0) ? 'missing' : null
    if (list.unsent === null) throw error
  }
}

function visitOf(push: Sending, stage: PushStage, tally: Tally, now: () => void): (row: Row) => Promise<void> {
  const isSecond = stage.create === undefined
  const ahead = new Set<string>()
  const visit = async (row: Row): Promise<void> => {
    const label = labelOf(stage, row)
    if (ahead.has(label)) return
    ahead.add(label)
    await parentFirst(row)
    const list = tally.list(stage)
    if (!isSecond) list.here++
    try {
      const outcome = await sendRow(push, stage, row)
      if (!isSecond || outcome === 'changed') list[outcome]++
      if (!isSecond) tally.lose(stage, row, push.owner)
    } catch (error) {
      if (!(error instanceof LeftOut)) throw error
      if (!isSecond || error.refused || (error.message === stage.missing && !push.isDry)) tally.leave(stage, row, error)
    }
    now()
  }
  const parentFirst = async (row: Row): Promise<void> => {
    const parent = stage.parent === undefined ? null : textOf(Object(row)[stage.parent])
    if (!parent || push.thereIf(stage.label, parent) !== undefined) return
    const [first] = await push.reads.find(stage.table, { where: { id: parent } })
    if (first) await visit(first)
  }
  return visit
}
