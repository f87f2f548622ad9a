/**
 * A **sorted index** keeps the rows of one table sorted for one kind of query. Rows with the same values in `columns` form one
 * **group**, an array in the order of the column `by`, then of the id. A page is then a binary search and a slice, at any
 * position of the list.
 */
import { compareIds } from '../../../lib/base/ids.ts'
import type { Compare } from '../../../lib/storage/compare.ts'
import { type Conditions, keyOf, type StoredRow } from './row.ts'

/** Which part of the rows a query wants. */
export interface Range {
  readonly descending: boolean
  readonly after: string | number | undefined
  readonly offset: number
  readonly limit: number
}

export interface SortedIndex {
  readonly columns: readonly string[]
  /** The rows with these values, a page of them, in order. `conditions` names exactly the index's columns. */
  find(conditions: Conditions, range: Range): StoredRow[]
  count(conditions: Conditions): number
  /** Follows a row from one state to another; `undefined` where it does not exist. */
  change(before: StoredRow | undefined, after: StoredRow | undefined): void
}

type Order = (a: StoredRow, b: StoredRow) => number

/** How rows follow each other: by one column, rows with the same value by id. */
export function orderBy(by: string, compare: Compare): Order {
  if (by === 'id') return (a, b) => compareIds(a.id, b.id)
  return (a, b) => compare(a[by], b[by]) || compareIds(a.id, b.id)
}

/**
 * Builds an index over the rows there are.
 * @param columns the columns of which queries name a value
 * @param by the column that gives the order
 * @param compare how its values compare
 * @param rows every row of the table
 */
export function sortedIndex(columns: readonly string[], by: string, compare: Compare, rows: Iterable<StoredRow>): SortedIndex {
  const order = orderBy(by, compare)
  const groups = new Map<string, StoredRow[]>()
  const groupOf = (row: StoredRow) => keyOf(columns.map((column) => row[column]))

  for (const row of rows) {
    const group = groups.get(groupOf(row))
    if (group) group.push(row)
    else groups.set(groupOf(row), [row])
  }
  for (const group of groups.values()) group.sort(order)

  function add(key: string, row: StoredRow) {
    const group = groups.get(key)
    if (!group) groups.set(key, [row])
    else group.splice(placeOf(group, row), 0, row)
  }

  function remove(key: string, row: StoredRow) {
    const group = groups.get(key)
    group?.splice(placeOf(group, row), 1)
    if (group?.length === 0) groups.delete(key)
  }

  /** The position of a row, present or new. New rows mostly come last, so the end is tried first. */
  function placeOf(group: readonly StoredRow[], row: StoredRow): number {
    const last = group.at(-1)
    if (last && order(last, row) < 0) return group.length
    return firstWhere(group, (other) => order(other, row) >= 0)
  }

  function* groupsOf(conditions: Conditions): Generator<StoredRow[]> {
    for (const values of combinations(columns.map((column) => conditions[column]))) {
      const group = groups.get(keyOf(values))
      if (group) yield group
    }
  }

  const beyond = (row: StoredRow, after: string | number) => compare(row[by], after)

  return {
    columns,

    find(conditions, range) {
      const found = [...groupsOf(conditions)]
      if (found.length === 1 && found[0]) return slice(found[0], range, beyond)
      // Every group yields the rows that could be on the page. Sorting sorted pieces is a merge, so this stays linear.
      const upTo = { ...range, offset: 0, limit: range.offset + range.limit }
      const merged = found.flatMap((group) => slice(group, upTo, beyond))
      merged.sort(range.descending ? (a, b) => order(b, a) : order)
      return merged.slice(range.offset, range.offset + range.limit)
    },

    count(conditions) {
      let count = 0
      for (const group of groupsOf(conditions)) count += group.length
      return count
    },

    change(before, after) {
      const from = before && groupOf(before)
      const to = after && groupOf(after)
      if (before && after && from !== undefined && from === to && order(before, after) === 0) {
        const group = groups.get(from)
        if (group) group[placeOf(group, before)] = after
        return
      }
      if (before && from !== undefined) remove(from, before)
      if (after && to !== undefined) add(to, after)
    },
  }
}

/**
 * A page of rows that are sorted upwards.
 * @param beyond how a row's place compares with a value of the order column
 */
export function slice(
  rows: readonly StoredRow[],
  { descending, after, offset, limit }: Range,
  beyond: (row: StoredRow, after: string | number) => number,
): StoredRow[] {
  if (descending) {
    const end = (after === undefined ? rows.length : firstWhere(rows, (row) => beyond(row, after) >= 0)) - offset
    return end <= 0 ? [] : rows.slice(Math.max(0, end - limit), end).reverse()
  }
  const start = (after === undefined ? 0 : firstWhere(rows, (row) => beyond(row, after) > 0)) + offset
  return rows.slice(start, start + limit)
}

/** The index of the first row for which `reached` holds, by binary search; the length without one. */
function firstWhere(rows: readonly StoredRow[], reached: (row: StoredRow) => boolean): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const row = rows[middle]
    if (row && reached(row)) high = middle
    else low = middle + 1
  }
  return low
}

/** Every combination of one value per column, where a column may have a list to choose from. */
function combinations(wanted: readonly unknown[]): unknown[][] {
  let all: unknown[][] = [[]]
  for (const value of wanted) {
    // A value that is named twice would give its rows twice.
    const values: readonly unknown[] = Array.isArray(value) ? [...new Set(value)] : [value]
    all = values.length === 1 ? all.map((some) => [...some, values[0]]) : all.flatMap((some) => values.map((v) => [...some, v]))
  }
  return all
}
