/**
 * One table in memory: rows by id, unique keys by hash, and a sorted index for each kind of query that was made once.
 */
import { comparing } from '../../../lib/storage/compare.ts'
import { StorageError, UniqueViolation } from '../../../lib/storage/contract.ts'
import type { Id, Table } from '../../../lib/storage/table.ts'
import { type Conditions, frozenCopy, keyOf, matches, type StoredRow } from './row.ts'
import { orderBy, type Range, type SortedIndex, slice, sortedIndex } from './sorted-index.ts'

/** A table without the types of its rows. */
export type TableShape = Pick<Table, 'name' | 'columns' | 'unique'>

export interface RowQuery {
  readonly where?: Conditions
  /** Of the rows that match, only those for which this holds. */
  readonly isMet?: (row: StoredRow) => boolean
  readonly order?: { readonly by: string; readonly direction: 'asc' | 'desc' }
  readonly after?: string | number
  readonly limit?: number
  readonly offset?: number
}

/** One step of a row, as the undo log keeps it: `before` undefined is an insert, `after` undefined a removal. */
export interface Change {
  readonly table: TableInMemory
  readonly before: StoredRow | undefined
  readonly after: StoredRow | undefined
}

export interface TableInMemory {
  readonly rows: ReadonlyMap<Id, StoredRow>
  /** The number of the last commit that changed it, as its transactions count them. */
  lastCommit: number
  find(query: RowQuery): StoredRow[]
  count(query: RowQuery): number
  /** @throws UniqueViolation */
  insert(row: StoredRow): Change
  /**
   * Nothing when there is no such row or `guard` does not hold.
   * @throws UniqueViolation
   */
  update(id: Id, patch: Conditions, guard: Conditions): Change | undefined
  /** Adds to columns, in the same way. @throws UniqueViolation */
  increment(id: Id, by: Conditions, guard: Conditions): Change | undefined
  /** Nothing when there is no such row or `guard` does not hold. */
  remove(id: Id, guard: Conditions): Change | undefined
  /** Takes a change back; the changes that came after it must have been taken back before. */
  undo(change: Change): void
}

interface UniqueKey {
  readonly columns: readonly string[]
  readonly taken: Map<string, Id>
}

/**
 * A table with the rows that a file had.
 *
 * @param shape the table
 * @param initial its rows; columns that were declared later get their default
 * @throws StorageError `damaged` when two of them have the same unique key
 */
export function tableInMemory(shape: TableShape, initial: Iterable<StoredRow> = []): TableInMemory {
  const rows = new Map<Id, StoredRow>()
  const keys: readonly UniqueKey[] = shape.unique.map((columns) => ({ columns, taken: new Map() }))
  const indexes = new Map<string, SortedIndex>()

  /** The key's text for a row, or `undefined` when a null in it keeps it from colliding. */
  function textOf({ columns }: UniqueKey, row: StoredRow | undefined): string | undefined {
    const values = row && columns.map((column) => row[column] ?? null)
    return values?.includes(null) ? undefined : values && keyOf(values)
  }

  /** Checked in full before anything is changed, so that a violation leaves nothing behind. */
  function checkUnique(row: StoredRow) {
    for (const key of keys) {
      const text = textOf(key, row)
      const holder = text === undefined ? undefined : key.taken.get(text)
      if (holder !== undefined && holder !== row.id) throw new UniqueViolation(shape.name, key.columns)
    }
  }

  function move(before: StoredRow | undefined, after: StoredRow | undefined) {
    if (after) rows.set(after.id, after)
    else if (before) rows.delete(before.id)
    for (const key of keys) {
      const from = textOf(key, before)
      const to = textOf(key, after)
      if (from !== undefined && from !== to) key.taken.delete(from)
      if (to !== undefined && after) key.taken.set(to, after.id)
    }
    for (const index of indexes.values()) index.change(before, after)
  }

  function changed(before: StoredRow | undefined, after: StoredRow | undefined): Change {
    move(before, after)
    return { table, before, after }
  }

  function indexFor(columns: readonly string[], by: string): SortedIndex {
    const signature = [by, ...columns].join()
    const existing = indexes.get(signature)
    if (existing) return existing
    const index = sortedIndex(columns, by, comparing(shape.columns[by]?.type), rows.values())
    indexes.set(signature, index)
    return index
  }

  /** The few rows that a condition on the id or on a whole unique key leaves, without any index; else `undefined`. */
  function direct(where: Conditions): StoredRow[] | undefined {
    const named = 'id' in where ? where['id'] : holderOf(where)
    if (named === undefined) return undefined
    const ids: readonly unknown[] = Array.isArray(named) ? named : [named]
    const candidates = [...new Set(ids)].map((id) => rows.get(String(id)))
    return candidates.filter((row) => row !== undefined).filter((row) => matches(row, where))
  }

  /** The id of the row with the unique key in the conditions; null if no row has it, `undefined` if they name no key. */
  function holderOf(where: Conditions): Id | null | undefined {
    for (const { columns, taken } of keys) {
      const values = columns.map((column) => where[column])
      if (values.some((value) => value === undefined || value === null || Array.isArray(value))) continue
      return taken.get(keyOf(values)) ?? null
    }
    return undefined
  }

  function counted(where: Conditions): number {
    const columns = Object.keys(where).sort()
    if (columns.length === 0) return rows.size
    // Groups do not depend on the order, so any index over these columns can count.
    const suitable = [...indexes.values()].find((index) => index.columns.join() === columns.join())
    return direct(where)?.length ?? (suitable ?? indexFor(columns, 'id')).count(where)
  }

  const table: TableInMemory = {
    rows,
    lastCommit: 0,

    find({ isMet, ...query }) {
      const { where = {}, order, after, limit = Number.POSITIVE_INFINITY, offset = 0 } = query
      if (isMet) {
        const { limit: _limit, offset: _offset, ...all } = query
        return table
          .find(all)
          .filter(isMet)
          .slice(offset, offset + limit)
      }
      const by = order?.by ?? 'id'
      const range: Range = { descending: order?.direction === 'desc', after, offset, limit }
      const found = direct(where)
      if (!found) return indexFor(Object.keys(where).sort(), by).find(where, range)
      const compare = comparing(shape.columns[by]?.type)
      return slice(found.sort(orderBy(by, compare)), range, (row, value) => compare(row[by], value))
    },

    count({ where = {}, isMet, limit = Number.POSITIVE_INFINITY }) {
      if (isMet) return table.find({ where, isMet, limit }).length
      return Math.min(counted(where), limit)
    },

    insert(row) {
      const stored = frozenCopy(row)
      if (rows.has(stored.id)) throw new UniqueViolation(shape.name, ['id'])
      checkUnique(stored)
      return changed(undefined, stored)
    },

    update(id, patch, guard) {
      const before = rows.get(id)
      if (!before || !matches(before, guard)) return undefined
      const next: Record<string, unknown> = { ...before }
      for (const [column, value] of Object.entries(patch)) {
        // As in a database: it would be kept, and never read.
        if (!(column in shape.columns)) throw new RangeError(`${shape.name} has no column ${column}`)
        if (value !== undefined) next[column] = frozenCopy(value)
      }
      const after = Object.freeze(next) as StoredRow
      checkUnique(after)
      return changed(before, after)
    },

    increment(id, by, guard) {
      const before = rows.get(id)
      const sums = Object.entries(by).map(([column, added]) => [column, Number(before?.[column]) + Number(added)])
      return table.update(id, Object.fromEntries(sums), guard)
    },

    remove(id, guard) {
      const before = rows.get(id)
      return before && matches(before, guard) ? changed(before, undefined) : undefined
    },

    undo({ before, after }) {
      move(after, before)
    },
  }

  const defaults = Object.entries(shape.columns).filter(([, column]) => column.default !== undefined)
  for (const row of initial) {
    const missing = defaults
      .filter(([name]) => !(name in row))
      .map(([name, column]) => [name, column.derived?.of(row) ?? column.default])
    try {
      table.insert({ ...row, ...Object.fromEntries(missing) })
    } catch (cause) {
      const reason = cause instanceof UniqueViolation ? cause.message : `row ${row.id} cannot be read`
      throw new StorageError('damaged', `the stored rows contradict each other: ${reason}`, { cause })
    }
  }
  return table
}
