/**
 * Rows by id that the writer of a file has read, such as callers and their spaces. One writes at a time: so a row is the same
 * until this process changes its table, or another one has committed.
 */
import type { AnyRow, TableShape } from '../../sql/values.ts'

export interface KeptRows {
  /** The row with an id, if it is kept. It is frozen all through. */
  of(table: TableShape, id: string): AnyRow | undefined
  /** Freezes a row that was just read, and keeps it. @param values of its columns, by which it is measured */
  keep(table: TableShape, row: AnyRow, values: readonly unknown[]): AnyRow
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
  /** By the name of the table, by its shape, and by id: a name may have other columns elsewhere. */
  const tables = new Map<string, Map<TableShape, Map<string, AnyRow>>>()
  let count = 0
  let isTrusted = true

  function forget(): void {
    tables.clear()
    count = 0
    isTrusted = true
  }

  return {
    forget,
    of: (table, id) => tables.get(table.name)?.get(table)?.get(id),
    keep(table, row, values) {
      if (!isTrusted || lengthOf(values) > longestRow) return row
      if (count >= maxRows) forget()
      const { id } = row
      const shapes = tables.get(table.name) ?? new Map<TableShape, Map<string, AnyRow>>()
      const byId = shapes.get(table) ?? new Map<string, AnyRow>()
      tables.set(table.name, shapes.set(table, byId.set(String(id), frozen(row))))
      count += 1
      return row
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

const lengthOf = (values: readonly unknown[]): number =>
  values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const name in value) frozen(value[name])
  return Object.freeze(value)
}
