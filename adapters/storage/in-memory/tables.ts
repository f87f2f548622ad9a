/**
 * All tables of one storage in memory, and the `tx` of one transaction over them. The changes of a transaction are made to the
 * tables at once, and written to a log from which they can be undone.
 */
import { fitsLine, maxLineBytes } from '../../../lib/outbox/line.ts'
import type { OutboxRecord } from '../../../lib/outbox/record.ts'
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

const hasEnded = 'this transaction has ended; await every call on `tx` before `work` returns'

// Classes, not objects of closures: both are made for each request, and their methods are shared.
class SessionInMemory implements Session {
  readonly changes: Change[] = []
  readonly records: OutboxRecord[] = []
  readonly tx: Tx
  lastCommit = 0
  readonly #tables: TablesInMemory
  readonly #readOnly: boolean
  #ended = false

  constructor(tables: TablesInMemory, readOnly: boolean) {
    this.#tables = tables
    this.#readOnly = readOnly
    // Rows are kept without their types, by table name; what comes out of a table is what its own type let in.
    this.tx = new TxInMemory(this) as unknown as Tx
  }

  checkRecords(): void {
    for (const record of this.records)
      if (!fitsLine(record)) throw new RangeError(`a record is longer than ${maxLineBytes} bytes`)
  }

  end(): void {
    this.#ended = true
  }

  /** A call that was not awaited could otherwise write in the middle of somebody else's transaction. */
  table(shape: TableShape): TableInMemory {
    if (this.#ended) throw new StorageError('closed', hasEnded)
    const used = this.#tables.of(shape)
    if (used.lastCommit > this.lastCommit) this.lastCommit = used.lastCommit
    return used
  }

  writable(shape: TableShape): TableInMemory {
    this.#refuseIfReadOnly()
    return this.table(shape)
  }

  log(change: Change): Change
  log(change: Change | undefined): Change | undefined
  log(change: Change | undefined): Change | undefined {
    if (change) this.changes.push(change)
    return change
  }

  append(added: readonly OutboxRecord[]): void {
    this.#refuseIfReadOnly()
    if (this.#ended) throw new StorageError('closed', hasEnded)
    for (const record of added) this.records.push(frozenCopy(record))
  }

  #refuseIfReadOnly(): void {
    if (this.#readOnly) throw new TypeError('a transaction with `readOnly: true` cannot write; leave the option out')
  }
}

/** The `tx` of a session. */
class TxInMemory {
  readonly #session: SessionInMemory

  constructor(session: SessionInMemory) {
    this.#session = session
  }

  async get(shape: TableShape, id: string) {
    return this.#session.table(shape).rows.get(id)
  }

  async find(shape: TableShape, query: RowQuery) {
    return this.#session.table(shape).find(query)
  }

  async count(shape: TableShape, where: RowQuery['where']) {
    return this.#session.table(shape).count(where ?? {})
  }

  async insert(shape: TableShape, row: StoredRow) {
    const session = this.#session
    return session.log(session.writable(shape).insert(row)).after
  }

  async update(shape: TableShape, id: string, patch: Partial<StoredRow>, guard: RowQuery['where']) {
    const session = this.#session
    return session.log(session.writable(shape).update(id, patch, guard ?? {}))?.after
  }

  async increment(shape: TableShape, id: string, by: Partial<StoredRow>, guard: RowQuery['where']) {
    const session = this.#session
    return session.log(session.writable(shape).increment(id, by, guard ?? {}))?.after
  }

  async remove(shape: TableShape, id: string, guard: RowQuery['where']) {
    const session = this.#session
    return session.log(session.writable(shape).remove(id, guard ?? {}))?.before
  }

  async lock(shape: TableShape, id: string) {
    return this.#session.writable(shape).rows.get(id)
  }

  async append(added: readonly OutboxRecord[]) {
    this.#session.append(added)
  }
}

/**
 * Takes changes back, the latest first.
 * @param changes of one transaction or of several, in the order in which they were made
 */
export function undo(changes: readonly Change[]): void {
  for (const change of changes.toReversed()) change.table.undo(change)
}
