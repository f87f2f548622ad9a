/**
 * The read side of an outbox that is a table.
 *
 * A row is there until it is settled, and a present row is not finally ingested. So no row is skipped because its number is
 * lower than one read before. Numbers are not given in the order of commits, and a restored backup gives them again.
 *
 * A large commit is several rows, of one transaction and in order: all of them are there, or none.
 *
 * Terms
 * - **Number**: the `seq` of a row. It only distinguishes and orders the present rows.
 * - **Reading**: the rows of one call of `read`, counted. The position of the stream is the count of the last ingested reading,
 *   so a failed reading is read again.
 */

import { checkRecords } from '../../../lib/outbox/check.ts'
import type { OutboxRecord } from '../../../lib/outbox/record.ts'
import { type Damage, maxCounted, type OutboxSource, type Reading, tableStream as stream } from '../../../lib/outbox/source.ts'
import type { Dialect, List } from '../../sql/dialect.ts'

export interface OutboxRow {
  readonly seq: number
  readonly records: string
}

/** The database's part of an outbox. */
export interface OutboxTable {
  readonly dialect: Dialect
  /** The rows of a statement, which is one transaction. @throws StorageError */
  run(sql: string, values: readonly List[]): Promise<readonly (readonly unknown[])[]>
  watch(changed: () => void): () => void
  /** Resolves when rows that were read are on the disk, where they may be seen earlier. @throws StorageError */
  durable?(): Promise<void>
  close(): Promise<void>
}

/** The most rows read in one batch. */
const maxRows = 500

/** Reads rows by their bytes: as many in one batch as come to the limit, were they like those that were read before. */
export function byBytes() {
  let atOnce = 50
  return {
    /** How many to read. */
    get atOnce() {
      return atOnce
    },
    /**
     * The rows of what was found that are within the limit, but at least one.
     * @param limit bytes
     */
    within(rows: readonly OutboxRow[], limit: number): { readonly some: readonly OutboxRow[]; readonly more: boolean } {
      const full = rows.length >= atOnce
      const average = rows.reduce((sum, { records }) => sum + records.length, 1) / Math.max(1, rows.length)
      atOnce = Math.min(maxRows, Math.max(2, Math.ceil(limit / average)))
      const some = upTo(rows, limit)
      return { some, more: full || some.length < rows.length }
    },
  }
}

export function outboxSource({ dialect, run, watch, durable, close }: OutboxTable): OutboxSource {
  const outbox = dialect.table('outbox')
  const these = dialect.among('"seq"', 'integer', dialect.parameter(1))
  const limited = (sql: string) => `${sql} LIMIT ${dialect.bound(dialect.parameter(2))}`
  // All present rows, whatever their numbers: a transaction that took a low number may commit last.
  const reading = limited(`SELECT "seq", "records" FROM ${outbox} WHERE NOT (${these}) ORDER BY "seq"`)
  const counting = `SELECT count(*) FROM (${limited(`SELECT 1 FROM ${outbox} WHERE NOT (${these})`)}) AS others`
  const removing = `DELETE FROM ${outbox} WHERE ${these}`

  /** Rows that were read and are still there, by reading. */
  const readings = new Map<number, readonly number[]>()
  let count = 0
  const pieces = byBytes()

  function forgetAfter(position: number): void {
    for (const reading of readings.keys()) if (reading > position) readings.delete(reading)
    count = Math.max(count, position)
  }

  return {
    async read(positions, limit): Promise<Reading> {
      const position = positions[stream] ?? 0
      forgetAfter(position)
      const found = await run(reading, [dialect.list([...readings.values()].flat()), pieces.atOnce])
      if (found.length > 0) await durable?.()
      const rows = found.map(([seq, records]) => ({ seq: Number(seq), records: String(records) }))
      const { some, more } = pieces.within(rows, limit)
      if (some.length === 0) return { commits: [], positions: {}, damage: [], more: false }
      readings.set(
        ++count,
        some.map(({ seq }) => seq),
      )
      const parsed = some.map(parseCommit)
      return {
        commits: parsed.map(({ records }) => records),
        positions: { [stream]: count },
        damage: parsed.flatMap(({ damage }) => damage),
        more,
      }
    },

    async backlog(positions) {
      const position = positions[stream] ?? 0
      const taken = [...readings].filter(([reading]) => reading <= position).flatMap(([, rows]) => rows)
      const [row] = await run(counting, [dialect.list(taken), maxCounted])
      return { unit: 'commits', count: Number(row?.[0]) }
    },

    async settle(positions) {
      const position = positions[stream] ?? 0
      const settled = [...readings].filter(([reading]) => reading <= position)
      const numbers = settled.flatMap(([, rows]) => rows)
      if (numbers.length > 0) await run(removing, [dialect.list(numbers)])
      for (const [reading] of settled) readings.delete(reading)
      return []
    },

    watch,
    close,
  }
}

function upTo(rows: readonly OutboxRow[], limit: number): readonly OutboxRow[] {
  let bytes = 0
  const end = rows.findIndex(({ records }) => {
    bytes += records.length
    return bytes > limit
  })
  return end === -1 ? rows : rows.slice(0, Math.max(1, end))
}

export interface ParsedCommit {
  readonly records: readonly OutboxRecord[]
  /** Its unusable part. The first one has the whole row with it: the row itself will be gone. */
  readonly damage: readonly Damage[]
}

export function parseCommit({ seq, records: text }: OutboxRow): ParsedCommit {
  const list = listOf(text)
  const { records, unusable } = checkRecords(list ?? [], text)
  const about = list ? unusable : [{ reason: 'is not a JSON list of records' }]
  const damage = about.map((each, index) => ({
    ...{ stream, offset: seq, bytes: text.length, ...each },
    ...(index === 0 ? { content: text } : {}),
  }))
  return { records, damage }
}

function listOf(text: string): readonly unknown[] | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return Array.isArray(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}
