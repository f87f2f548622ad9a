/** How values compare, for storages that do it themselves. */
import { compareIds } from '../base/ids.ts'
import type { ColumnType } from './table.ts'

export type Compare = (a: unknown, b: unknown) => number

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

const nullsFirst =
  (compare: Compare): Compare =>
  (a, b) =>
    a === null || b === null ? Number(a !== null) - Number(b !== null) : compare(a, b)

const byId = nullsFirst((a, b) => compareIds(String(a), String(b)))
const byNumber = nullsFirst((a, b) => Number(a) - Number(b))
const byText = nullsFirst((a, b) => compareText(String(a), String(b)))

/**
 * How the values of a column compare: ids and numbers as numbers, everything else as text by code unit, null before all.
 * @param type the column's type
 */
export function comparing(type: ColumnType | undefined): Compare {
  if (type === 'id') return byId
  return type === 'integer' || type === 'real' || type === 'boolean' ? byNumber : byText
}
