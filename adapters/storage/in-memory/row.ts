/** The row and the values of a table in memory. */
import type { Row } from '../../../lib/storage/table.ts'

/** A row as it is kept: frozen all through, so that it can be handed out without a copy. */
export type StoredRow = Row & Readonly<Record<string, unknown>>

/** Conditions of a query whose row type does not matter here. */
export type Conditions = Readonly<Record<string, unknown>>

/**
 * A copy of a JSON value that nothing can change any more.
 *
 * A copy, because freezing the caller's own object would reach into their code. As in JSON, members that are `undefined` are
 * omitted, and `toJSON` of an object replaces it. So memory keeps the same values as a file.
 *
 * @param value anything that JSON can hold
 */
export function frozenCopy<T>(value: T): T
export function frozenCopy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return Object.freeze(value.map((item) => frozenCopy(item ?? null)))
  if ('toJSON' in value && typeof value.toJSON === 'function') return frozenCopy(value.toJSON())
  // Not by spread: for objects of many shapes, as the rows of many tables are, that takes three times as long.
  const copy: Record<string, unknown> = {}
  const given = value as Readonly<Record<string, unknown>>
  for (const key of Object.keys(given)) {
    const member = given[key]
    // To assign it would set the prototype.
    if (key === '__proto__') Object.defineProperty(copy, key, { value: frozenCopy(member), enumerable: true })
    else if (member !== undefined) copy[key] = frozenCopy(member)
  }
  return Object.freeze(copy)
}

/**
 * Whether a row has the values that conditions name.
 * @param conditions per column a value, null, or a list of which one must match
 */
export function matches(row: StoredRow, conditions: Conditions): boolean {
  for (const [column, wanted] of Object.entries(conditions)) {
    const value = row[column]
    if (Array.isArray(wanted) ? !wanted.includes(value) : value !== wanted) return false
  }
  return true
}

/**
 * One string for the values of some columns; equal exactly when all values are. `undefined` equals no stored value.
 * @param values in the order of the columns
 */
export function keyOf(values: readonly unknown[]): string {
  // JSON texts end by themselves, so a comma between them cannot be mistaken.
  if (values.length === 1) return JSON.stringify(values[0]) ?? 'undefined'
  return values.map((value) => JSON.stringify(value) ?? 'undefined').join(',')
}
