/** Rows that are kept for people: notices, and skipped parts of the outbox. */
import { given, type Plan, type RelayDatabase, rows } from '../database.ts'
import type { Notice } from '../notice.ts'
import type { QuarantinedRecord } from '../store.ts'

/** Appends rows of texts, with the same time, to a table. */
function* keep<C extends string>(
  database: RelayDatabase,
  table: 'notices' | 'set_aside',
  columns: readonly C[],
  kept: readonly Readonly<Record<C, string | null>>[],
  now: number,
): Plan<void> {
  if (kept.length === 0) return
  const texts = Object.fromEntries(columns.map((column) => [column, 'text'] as const))
  yield* rows(
    `INSERT INTO $schema.${table} (at, ${columns.join(', ')}) SELECT CAST(?1 AS bigint), g.* FROM ${given(database, '?2', texts)} AS g`,
    [now, JSON.stringify(kept.map((each) => columns.map((column) => each[column])))],
  )
}

export const keepNotices = (database: RelayDatabase, notices: readonly Notice[], now: number): Plan<void> =>
  keep(database, 'notices', ['kind', 'network_id', 'endpoint_id', 'event_id', 'text'], notices, now)

/** Keeps skipped parts of the outbox in the table `set_aside`. */
export const keepQuarantined = (database: RelayDatabase, pieces: readonly QuarantinedRecord[], now: number): Plan<void> =>
  keep(database, 'set_aside', ['reason', 'network_id', 'endpoint_id', 'event_id', 'content'], pieces, now)
