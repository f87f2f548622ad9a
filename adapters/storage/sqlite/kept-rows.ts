/**
 * Rows by id that the writer of a file has read, such as callers and their spaces. One writes at a time: so a row is the same
 * until this process changes its table, or another one has committed.
 */
import type { Statement } from '../../sql/statement.ts'
import type { Rows } from '../sql/session.ts'

export interface KeptRows {
  /** The rows of a statement, asked for only if they are not kept. @throws what `ask` throws */
  of(statement: Statement, ask: (statement: Statement) => Rows): Rows
  /** Rows of a table change; without one nobody can tell of which. */
  changed(table: string | undefined): void
  /** Changes were undone, or somebody else may have made some. */
  forget(): void
  /** From now on somebody else may make changes, until the next `forget`. */
  distrust(): void
}

const maxRows = 256
/** Characters of a row that is kept. */
const longestRow = 4096

export function keptRows(): KeptRows {
  /** By table, by the text of the statement, and by id. */
  const tables = new Map<string, Map<string, Map<unknown, Rows>>>()
  let count = 0
  let isTrusted = true

  function forget(): void {
    tables.clear()
    count = 0
    isTrusted = true
  }

  function keep(table: string, sql: string, id: unknown, rows: Rows): void {
    if (count >= maxRows) forget()
    const queries = tables.get(table) ?? new Map<string, Map<unknown, Rows>>()
    const byId = queries.get(sql) ?? new Map<unknown, Rows>()
    tables.set(table, queries.set(sql, byId.set(id, rows)))
    count += 1
  }

  return {
    forget,
    of(statement, ask) {
      const { sql, values, reads, single } = statement
      if (!single || values.length !== 1 || reads === undefined || !isTrusted) return ask(statement)
      const kept = tables.get(reads)?.get(sql)?.get(values[0])
      if (kept) return kept
      const rows = ask(statement)
      if (lengthOf(rows) <= longestRow) keep(reads, sql, values[0], rows)
      return rows
    },
    changed(table) {
      // Their count stays: it is only a bound.
      if (table === undefined) forget()
      else tables.delete(table)
    },
    distrust() {
      forget()
      isTrusted = false
    },
  }
}

const lengthOf = ([row = []]: Rows): number =>
  row.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)
