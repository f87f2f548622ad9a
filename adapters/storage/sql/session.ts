/** One transaction's door to the data, over whatever runs statements. */
import type { OutboxRecord } from '../../../lib/outbox/record.ts'
import { Conflict, type LockStrength, StorageError, type Tx, UniqueViolation } from '../../../lib/storage/contract.ts'
import type { RowQuery, Statement, Statements } from '../../sql/statements.ts'
import type { AnyRow, TableShape } from '../../sql/values.ts'

/** Runs the statements of one transaction. */
export interface Executor {
  /**
   * The rows of a statement, each as the values of its columns.
   * @throws StorageError in the terms of the contract
   */
  query(statement: Statement): Promise<readonly (readonly unknown[])[]>
  /**
   * The same, where a violated key must leave the transaction usable.
   * @throws UniqueViolation of `table`
   */
  attempt(statement: Statement, table: TableShape): Promise<readonly (readonly unknown[])[]>
  /** Runs an insert, and says whether the row went in: a key that is taken fails no statement. */
  insert(statement: Statement): Promise<boolean>
  /** Puts records into the outbox, before the commit at the latest. */
  append(records: readonly OutboxRecord[]): Promise<void>
  readonly native: unknown
}

export interface Session {
  readonly tx: Tx
  /** From now on `tx` refuses to work. */
  end(): void
}

/**
 * @param executor what runs the statements
 * @param readOnly whether `tx` refuses to write
 */
export function openSession(executor: Executor, statements: Statements, readOnly: boolean): Session {
  let ended = false

  /** A call that was not awaited could otherwise write into somebody else's transaction. */
  function check(writes: boolean): void {
    if (ended) throw new StorageError('closed', 'this transaction has ended; await every call on `tx` before `work` returns')
    if (writes && readOnly) throw new TypeError('a transaction with `readOnly: true` cannot write; leave the option out')
  }

  const rowsOf = (table: TableShape, rows: readonly (readonly unknown[])[]): AnyRow[] => rows.map(statements.reader(table))

  const exists = async (table: TableShape, where: AnyRow): Promise<boolean> =>
    (await executor.query(statements.find(table, { where, limit: 1 }))).length > 0

  /** Which key of a row is taken, looked up after the fact: the database only said that one is. */
  async function violation(table: TableShape, row: AnyRow): Promise<Error> {
    for (const key of [['id'], ...table.unique]) {
      const values = Object.fromEntries(key.map((name) => [name, row[name]]))
      if (Object.values(values).includes(null)) continue
      if (await exists(table, values)) return new UniqueViolation(table.name, key)
    }
    return new Conflict(`${table.name}: the conflicting row is gone`)
  }

  async function change(statement: Statement, table: TableShape, changed: AnyRow): Promise<AnyRow | undefined> {
    const mayCollide = 'id' in changed || table.unique.some((key) => key.some((name) => changed[name] !== undefined))
    const rows = mayCollide ? await executor.attempt(statement, table) : await executor.query(statement)
    return rowsOf(table, rows)[0]
  }

  const tx = {
    native: executor.native,

    async get(table: TableShape, id: string) {
      check(false)
      return rowsOf(table, await executor.query(statements.get(table, id)))[0]
    },

    async find(table: TableShape, query: RowQuery) {
      check(false)
      // A page that nobody can reach may have a number that no database takes.
      if (query.limit === 0 || (query.offset ?? 0) > Number.MAX_SAFE_INTEGER) return []
      return rowsOf(table, await executor.query(statements.find(table, query)))
    },

    async count(table: TableShape, where: AnyRow) {
      check(false)
      const [row] = await executor.query(statements.count(table, where))
      return Number(row?.[0])
    },

    async insert(table: TableShape, row: AnyRow) {
      check(true)
      if (!(await executor.insert(statements.insert(table, row)))) throw await violation(table, row)
      return stored(table, row)
    },

    async update(table: TableShape, id: string, patch: AnyRow, guard: AnyRow = {}) {
      check(true)
      return change(statements.update(table, id, patch, guard), table, patch)
    },

    async increment(table: TableShape, id: string, by: AnyRow, guard: AnyRow = {}) {
      check(true)
      return change(statements.increment(table, id, by, guard), table, by)
    },

    async remove(table: TableShape, id: string, guard: AnyRow = {}) {
      check(true)
      return rowsOf(table, await executor.query(statements.remove(table, id, guard)))[0]
    },

    async lock(table: TableShape, id: string, strength: LockStrength) {
      check(true)
      return rowsOf(table, await executor.query(statements.lock(table, id, strength)))[0]
    },

    async append(records: readonly OutboxRecord[]) {
      check(true)
      if (records.length > 0) await executor.append(records)
    },
  }

  return {
    // Rows come and go without their types, by table; what comes out of a table is what its own type let in.
    tx: tx as unknown as Tx,
    end() {
      ended = true
    },
  }
}

/** A row as reading it would give it: JSON as a copy, everything else cannot be changed anyway. */
function stored({ columns }: TableShape, row: AnyRow): AnyRow {
  const copy: Record<string, unknown> = {}
  for (const name in columns) {
    const value = row[name]
    copy[name] = columns[name]?.type === 'json' && value !== null ? JSON.parse(JSON.stringify(value)) : value
  }
  return copy
}
