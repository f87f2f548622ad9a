/**
 * All tables of one storage in memory, and the `tx` of one transaction over them. The changes of a transaction are made to the
 * tables together, and written to a log from which they can be undone.
 */
import { fitsLine, maxLineBytes } from '../../../lib/outbox/line.ts'
import type { OutboxRecord } from '../../../lib/outbox/record.ts'
import { type Further, isFurther, meeting } from '../../../lib/storage/conditions.ts'
import { StorageError, type Tx } from '../../../lib/storage/contract.ts'
import { frozenCopy, type StoredRow } from './row.ts'
import { type Change, type RowQuery, type TableInMemory, type TableShape, tableInMemory } from './table.ts'

export interface TablesInMemory {
  of(shape: TableShape): TableInMemory
  /** The tables that were used so far, by name. */
  readonly used: ReadonlyMap<string, TableInMemory>
}

/**
 * Tables that come into being when they are first used.
 *
 * @param initial the rows that a table of this name begins with
 * @throws StorageError from `of`: `damaged` when the initial rows break a unique key
 */
export function tablesInMemory(initial: (name: string) => Iterable<StoredRow> = () => []): TablesInMemory {
  const used = new Map<string, TableInMemory>()
  return {
    used,
    of(shape) {
      const existing = used.get(shape.name)
      if (existing) return existing
      const table = tableInMemory(shape, initial(shape.name))
      used.set(shape.name, table)
      return table
    },
  }
}

/** The changes of one transaction so far. */
export interface Session {
  readonly tx: Tx
  readonly changes: readonly Change[]
  readonly records: readonly OutboxRecord[]
  /** The last commit that changed one of the tables that were used so far. */
  readonly lastCommit: number
  /** Until its end. */
  readonly running: boolean
  /**
   * Call it when the work is done. An outbox could never take a record that does not fit into a line, and only its own
   * transaction must fail because of it.
   * @throws RangeError when a record is too long for a line
   */
  checkRecords(): void
  /** From now on `tx` refuses to work. */
  end(): void
}

/**
 * Opens the `tx` of a transaction.
 * @param tables the tables of the storage
 * @param readOnly whether it refuses to write
 */
export function openSession(tables: TablesInMemory, readOnly: boolean): Session {
  return new SessionInMemory(tables, readOnly)
}

// A class, not an object of closures: one is made for every transaction.
class SessionInMemory implements Session {
  readonly changes: Change[] = []
  readonly records: OutboxRecord[] = []
  readonly tx: Tx
  lastCommit = 0
  readonly #tables: TablesInMemory
  readonly #readOnly: boolean
  running = true

  constructor(tables: TablesInMemory, readOnly: boolean) {
    this.#tables = tables
    this.#readOnly = readOnly
    // Rows are kept without their types, by table name; what comes out of a table is what its own type let in.
    this.tx = txOver(this) as unknown as Tx
  }

  table(shape: TableShape): TableInMemory {
    this.requireOpen()
    const used = this.#tables.of(shape)
    if (used.lastCommit > this.lastCommit) this.lastCommit = used.lastCommit
    return used
  }

  writable(shape: TableShape): TableInMemory {
    this.refuseIfReadOnly()
    return this.table(shape)
  }

  /** A call that was not awaited could otherwise write in the middle of another transaction. */
  requireOpen(): void {
    if (!this.running)
      throw new StorageError('closed', 'this transaction has ended; await every call on `tx` before `work` returns')
  }

  refuseIfReadOnly(): void {
    if (this.#readOnly) throw new TypeError('a transaction with `readOnly: true` cannot write; leave the option out')
  }

  log(change: Change): Change
  log(change: Change | undefined): Change | undefined
  log(change: Change | undefined): Change | undefined {
    if (change) this.changes.push(change)
    return change
  }

  checkRecords(): void {
    for (const record of this.records)
      if (!fitsLine(record)) throw new RangeError(`a record is longer than ${maxLineBytes} bytes`)
  }

  end(): void {
    this.running = false
  }
}

type SessionQuery = RowQuery & Further

/** The same query, its conditions beside equality as a function. */
function narrowed(session: SessionInMemory, { columns }: TableShape, query: SessionQuery): RowQuery {
  if (!isFurther(query)) return query
  const named = (query.within ?? []).map(
    ({ table, column, where }) =>
      new Set(
        session
          .table(table)
          .find({ where })
          .map((row) => row[column]),
      ),
  )
  return { ...query, isMet: meeting(columns, query, named) }
}

/** An object of functions, as `Tx` is for every storage: hosts that wrap one copy its members. */
const txOver = (session: SessionInMemory) => ({
  get: async (shape: TableShape, id: string) => session.table(shape).rows.get(id),
  find: async (shape: TableShape, query: SessionQuery) => session.table(shape).find(narrowed(session, shape, query)),
  count: async (shape: TableShape, query: SessionQuery) => session.table(shape).count(narrowed(session, shape, query)),
  insert: async (shape: TableShape, row: StoredRow) => session.log(session.writable(shape).insert(row)).after,
  update: async (shape: TableShape, id: string, patch: Partial<StoredRow>, guard: RowQuery['where']) =>
    session.log(session.writable(shape).update(id, patch, guard ?? {}))?.after,
  increment: async (shape: TableShape, id: string, by: Partial<StoredRow>, guard: RowQuery['where']) =>
    session.log(session.writable(shape).increment(id, by, guard ?? {}))?.after,
  remove: async (shape: TableShape, id: string, guard: RowQuery['where']) =>
    session.log(session.writable(shape).remove(id, guard ?? {}))?.before,
  lock: async (shape: TableShape, id: string) => session.writable(shape).rows.get(id),
  async append(added: readonly OutboxRecord[]) {
    session.refuseIfReadOnly()
    session.requireOpen()
    for (const record of added) session.records.push(frozenCopy(record))
  },
})

/**
 * Takes changes back, the latest first.
 * @param changes of one transaction or of several, in the order in which they were made
 */
export function undo(changes: readonly Change[]): void {
  for (const change of changes.toReversed()) change.table.undo(change)
}
