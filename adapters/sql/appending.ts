/** The statements that add rows to the outbox. */
import type { OutboxRecord } from '../../lib/outbox/record.ts'
import type { Dialect } from './dialect.ts'
import type { Statement } from './statement.ts'

/** Rows that one statement adds: few numbers, so that there are few statements. */
const rowsAtOnce = [32, 8, 2] as const

export function appendingTo(dialect: Dialect) {
  /** Adds as many rows to the outbox. */
  function appendSql(count: number): string {
    const rows = Array.from({ length: count }, (_, place) => `(${dialect.parameter(place + 1)})`)
    return `INSERT INTO ${dialect.table('outbox')} ("records") VALUES ${rows.join(', ')}`
  }

  const append = appendSql(1)
  const appends = rowsAtOnce.map((count) => ({ count, sql: appendSql(count) }))

  return {
    append: (records: readonly OutboxRecord[]): Statement => ({
      sql: append,
      values: [JSON.stringify(records)],
      writes: 'outbox',
    }),

    /** Adds rows to the outbox, each the text of a list of records. */
    appendRows(rows: readonly string[]): Statement[] {
      const all: Statement[] = []
      for (let place = 0; place < rows.length; ) {
        const { count, sql } = appends.find(({ count }) => count <= rows.length - place) ?? { count: 1, sql: append }
        all.push({ sql, values: rows.slice(place, place + count), writes: 'outbox' })
        place += count
      }
      return all
    },
  }
}
