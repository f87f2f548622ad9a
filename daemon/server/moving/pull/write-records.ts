/** Records of one list into rows: new ones are inserted, others brought up to date. */

import { removeWithDependents } from '../../../../lib/storage/cascade.ts'
import { isSame } from '../../../../lib/storage/changes.ts'
import { isUniqueViolation } from '../../../../lib/storage/contract.ts'
import type { ScopedTx } from '../../../../lib/storage/scoped.ts'
import type { Id, Row } from '../../../../lib/storage/table.ts'
import { UsageError } from '../../../usage.ts'
import type { ApiRecord } from '../api-record.ts'
import type { Place, Stage } from './stage.ts'
import { columnValue, emptyValue } from './values.ts'

/** How many records of a stage were read, and how many rows changed. */
export interface Counts {
  /** Records that the source has shown. */
  read: number
  added: number
  changed: number
  removed: number
  /** Records that could not become rows, because a record that they need is missing. */
  left: number
}

export const noCounts = (): Counts => ({ read: 0, added: 0, changed: 0, removed: 0, left: 0 })

type Columns = Record<string, unknown>

/** The columns of a row that its record gives. */
function columnsOf({ table, fields, columns, inserts }: Stage, record: ApiRecord, place: Place, isNew: boolean): Columns {
  const row: Columns = {}
  for (const [name, column] of Object.entries(table.columns)) {
    const maker = columns[name] ?? (isNew ? inserts[name] : undefined)
    const raw = maker ? maker(record, place) : fields.has(name) ? record[name] : undefined
    if (raw !== undefined) row[name] = columnValue(column, raw, place.ids)
  }
  return row
}

/** A whole row, with values for columns that weren't given. */
function wholeRow({ table }: Stage, given: Columns): Row {
  const at = given['created_at'] ?? given['updated_at'] ?? new Date(0).toISOString()
  const row: Columns = { created_at: at, updated_at: at, ...given }
  for (const [name, column] of Object.entries(table.columns))
    if (row[name] === undefined && name !== 'network_id' && column.default === undefined) row[name] = emptyValue(column)
  return row as unknown as Row
}

const valueIn = (row: Row, name: string): unknown => Object(row)[name]

/**
 * Writes the records of a page.
 * @param unlessBefore records that were changed before this time stay as they are, if they are here
 * @returns the ids of their rows
 */
export async function writeRecords(
  tx: ScopedTx,
  stage: Stage,
  records: readonly ApiRecord[],
  place: Place,
  counts: Counts,
  unlessBefore?: string,
): Promise<Id[]> {
  const made: { readonly record: ApiRecord; readonly columns: Columns }[] = []
  for (const record of records) {
    counts.read++
    const columns = columnsOf(stage, record, place, false)
    const isNamed = stage.key.every((name) => columns[name] !== undefined && columns[name] !== '0')
    if (isNamed && (!stage.accepts || (await stage.accepts(tx, record, place)))) made.push({ record, columns })
    else counts.left++
  }
  const known = await knownRows(
    tx,
    stage,
    made.map(({ columns }) => columns),
  )
  const ids: Id[] = []
  for (const { record, columns } of made) {
    const key = keyOf(stage, columns)
    const before = known.get(key)
    const after = before
      ? await bringUpToDate(tx, stage, before, columns, counts, unlessBefore)
      : await insert(tx, stage, columnsOf(stage, record, place, true), counts)
    known.set(key, after)
    ids.push(after.id)
    await stage.related?.(tx, record, place)
  }
  return ids
}

const keyOf = ({ key }: Stage, row: object): string => JSON.stringify(key.map((name) => Object(row)[name]))

/** The rows that records are about, by their key. */
async function knownRows(tx: ScopedTx, stage: Stage, made: readonly Columns[]): Promise<Map<string, Row>> {
  if (made.length === 0) return new Map()
  const where = Object.fromEntries(stage.key.map((name) => [name, [...new Set(made.map((columns) => columns[name]))]]))
  const rows = await tx.find(stage.table, { where })
  return new Map(rows.map((row) => [keyOf(stage, row), row]))
}

async function insert(tx: ScopedTx, stage: Stage, given: Columns, counts: Counts): Promise<Row> {
  const row = wholeRow(stage, given)
  const free = await freeKeys(tx, stage, row)
  counts.added++
  try {
    return await tx.insert(stage.table, { ...row, ...free })
  } catch (error) {
    if (!isUniqueViolation(error) || error.key.join() !== 'id') throw error
    throw new UsageError(
      `the target holds another network, which has ${stage.table.name} ${row.id} already: pull into a storage of its own`,
    )
  }
}

async function bringUpToDate(
  tx: ScopedTx,
  stage: Stage,
  before: Row,
  columns: Columns,
  counts: Counts,
  unlessBefore: string | undefined,
): Promise<Row> {
  const updatedAt = columns['updated_at']
  if (unlessBefore !== undefined && typeof updatedAt === 'string' && updatedAt < unlessBefore) return before
  const patch: Columns = {}
  for (const [name, value] of Object.entries(columns))
    if (name !== 'id' && !isSame(valueIn(before, name), value)) patch[name] = value
  if (Object.keys(patch).length === 0) return before
  const wanted = { ...before, ...patch }
  const free = await freeKeys(tx, stage, wanted)
  for (const [name, value] of Object.entries(free)) {
    if (isSame(valueIn(before, name), value)) delete patch[name]
    else patch[name] = value
  }
  if (Object.keys(patch).length === 0) return before
  counts.changed++
  // Times of the source are columns like others, so a row is written even if only they differ.
  const changed = await tx.touch(stage.table, before.id, patch)
  // A record before this one on the page has the key that the row had, so the row was taken away.
  return changed ?? (await tx.insert(stage.table, { ...before, ...patch }))
}

/**
 * Makes the unique keys of a row free. Another row that has one is of an earlier state: its own record comes, or it is gone.
 * @returns columns that the row must have instead, because the other row keeps the key
 */
async function freeKeys(tx: ScopedTx, stage: Stage, row: Row): Promise<Columns> {
  const { table, keeps } = stage
  const instead: Columns = {}
  for (const key of table.unique) {
    const own = key.filter((name) => name !== 'network_id')
    const last = own.at(-1)
    if (last === undefined || own.some((name) => valueIn(row, name) === null || valueIn(row, name) === undefined)) continue
    const where = Object.fromEntries(own.map((name) => [name, valueIn(row, name)]))
    for (const other of await tx.find(table, { where })) {
      if (other.id === row.id) continue
      if (keeps === last) instead[last] = null
      else if (table.columns[last]?.nullable) await tx.update(table, other.id, { [last]: null })
      else if (table.columns[last]?.type === 'text' && own.length === 1)
        await tx.update(table, other.id, { [last]: `${valueIn(other, last)} ${other.id}` })
      else await removeWithDependents(tx, table, other.id)
    }
  }
  return instead
}
