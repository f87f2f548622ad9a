/**
 * Every row of one storage into another, table by table and in the order of the ids.
 *
 * The progress is kept in the target, in the same transaction as the rows. So an interrupted copy resumes, and no row comes
 * twice.
 */
import type { Storage, Tx } from '../../../lib/storage/contract.ts'
import type { Row, Table } from '../../../lib/storage/table.ts'
import { idempotencyKeys } from '../../../lib/storage/tables/administration.ts'
import { tables as typedTables } from '../../../lib/storage/tables.ts'
import { UsageError } from '../../usage.ts'

// Rows are copied unchanged, without their types.
const tables = typedTables as readonly Table<Row>[]

/** Rows in one transaction: more are fewer writes, fewer are a smaller loss when it is interrupted. */
const batch = 500

export interface CopyProgress {
  readonly table: string
  /** Rows of all tables so far, and in the end. */
  readonly copied: number
  readonly total: number
}

/** The note of an unfinished copy: a row that no request can make, for it belongs to no network. */
const note = { id: '0', network_id: '0' } as const
const caller = 'folkmoot copy'

interface Place {
  readonly table: string
  readonly after: string | null
}

/**
 * Copies every table, and compares the counts at the end.
 *
 * @param source names where the rows come from; another copy from elsewhere is not gone on with
 * @returns how many rows each table has
 * @throws UsageError when the source is empty, the target holds something else, or the counts differ
 * @throws StorageError
 */
export async function copyTables(
  from: Storage,
  to: Storage,
  source: string,
  onProgress: (progress: CopyProgress) => void = () => {},
): Promise<Readonly<Record<string, number>>> {
  const counts = await countsOf(from)
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  if (total === 0) throw new UsageError(`the source is empty, is ${source} the right one?`)
  const begun = await placeIn(to, source)
  if (!begun) await begin(to, source)
  const start = begun ? tables.findIndex(({ name }) => name === begun.table) : 0
  let copied = await rowsBefore(to, start)
  for (const [index, table] of tables.entries()) {
    if (index < start) continue
    for (let after = index === start ? (begun?.after ?? null) : null; ; ) {
      const rows = await from.transaction((tx) => tx.find(table, { limit: batch, ...(after === null ? {} : { after }) }), {
        readOnly: true,
      })
      const last = rows.at(-1)
      if (!last) break
      await to.transaction(async (tx) => {
        for (const row of rows) await tx.insert(table, row)
        await moveTo(tx, { table: table.name, after: last.id })
      })
      after = last.id
      copied += rows.length
      onProgress({ table: table.name, copied, total })
    }
  }
  await compare(to, counts)
  return counts
}

/** Takes the note away: the target is whole. */
export const endCopy = (to: Storage): Promise<unknown> => to.transaction((tx) => tx.remove(idempotencyKeys, note.id))

const countsOf = (storage: Storage): Promise<Record<string, number>> =>
  storage.transaction(
    async (tx) => {
      const counts: Record<string, number> = {}
      for (const table of tables) counts[table.name] = await tx.count(table, {})
      if (await tx.get(idempotencyKeys, note.id)) counts[idempotencyKeys.name] = (counts[idempotencyKeys.name] ?? 1) - 1
      return counts
    },
    { readOnly: true },
  )

/** Where an earlier run of this copy has come to; undefined for a target that is empty. */
async function placeIn(to: Storage, source: string): Promise<Place | undefined> {
  const row = await to.transaction((tx) => tx.get(idempotencyKeys, note.id), { readOnly: true })
  if (row?.caller === caller) {
    if (row.fingerprint === source) return JSON.parse(row.body) as Place
    throw new UsageError(`the target holds an unfinished copy of ${row.fingerprint}: finish that one, or give an empty target`)
  }
  const filled = Object.entries(await countsOf(to)).filter(([, count]) => count > 0)
  if (filled.length > 0) {
    const rows = filled.map(([name, count]) => `${name} ${count}`).join(', ')
    throw new UsageError(`the target is not empty, these tables hold rows: ${rows}; give an empty one`)
  }
  return undefined
}

const begin = (to: Storage, source: string): Promise<unknown> =>
  to.transaction((tx) => {
    const at = new Date().toISOString()
    const body = JSON.stringify({ table: tables[0]?.name, after: null } satisfies Partial<Record<keyof Place, unknown>>)
    const row = { ...note, created_at: at, updated_at: at, caller, key: 'progress', fingerprint: source, status: 0, body }
    return tx.insert(idempotencyKeys, row)
  })

const moveTo = (tx: Tx, place: Place): Promise<unknown> => tx.update(idempotencyKeys, note.id, { body: JSON.stringify(place) })

async function rowsBefore(to: Storage, start: number): Promise<number> {
  const counts = await countsOf(to)
  return tables.slice(0, start + 1).reduce((sum, { name }) => sum + (counts[name] ?? 0), 0)
}

async function compare(to: Storage, counts: Readonly<Record<string, number>>): Promise<void> {
  const found = await countsOf(to)
  const different = Object.keys(counts).filter((name) => counts[name] !== found[name])
  if (different.length === 0) return
  const lines = different.map((name) => `${name} ${counts[name]} and ${found[name]}`).join(', ')
  throw new UsageError(
    `the counts of source and target differ (${lines}): stop everything that writes to the source, and copy again`,
  )
}
