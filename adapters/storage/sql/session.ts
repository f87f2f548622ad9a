/** One transaction's `tx`, over the executor of its statements. */
import type { OutboxRecord } from '../../../lib/outbox/record.ts'
import { Conflict, type LockStrength, StorageError, type Tx, UniqueViolation } from '../../../lib/storage/contract.ts'
import type { RowQuery, Statement } from '../../sql/statement.ts'
import type { Statements } from '../../sql/statements.ts'
import type { AnyRow, TableShape } from '../../sql/values.ts'

/** The rows of a result, each as the values of its columns. */
export type Rows = readonly (readonly unknown[])[]

/** Runs the statements of a transaction that only reads. */
export interface Reader {
  /** @throws StorageError in the terms of the contract */
  query(statement: Statement): Rows | Promise<Rows>
  /** The handle of the database. A function: objects of a transaction have no getters (`docs/decisions/sql.md`). */
  native(): unknown
  /**
   * The syncs before which no caller may see rows of a table that are read now; `undefined` for none. It never rejects.
   * @param table `undefined` for any
   */
  unsynced?(table: string | undefined): Promise<unknown> | undefined
}

/** Runs the statements of a transaction that writes. */
export interface Writer extends Reader {
  /**
   * As `query`, where a violated key must leave the transaction usable.
   * @throws UniqueViolation of `table`
   */
  attempt(statement: Statement, table: TableShape): Rows | Promise<Rows>
  /** Runs an insert, and returns whether the row went in: a taken key fails no statement. */
  insert(statement: Statement): boolean | Promise<boolean>
  /** Puts records into the outbox, before the commit at the latest. */
  append(records: readonly OutboxRecord[]): void | Promise<void>
}

/**
 * Runs work with a `tx` that refuses to work after its end.
 * @param writer the reader, where the transaction may write
 * @throws what `work` throws
 */
export async function inSession<T>(
  reader: Reader,
  writer: Writer | undefined,
  statements: Statements,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const session = { reader, ended: false }
  try {
    return await work(txOver(session, writer, statements))
  } finally {
    session.ended = true
  }
}

interface Session {
  readonly reader: Reader
  ended: boolean
}

const own = Symbol('session')

/**
 * The handle of the database, read when it is used. All transactions share it: a getter in each literal costs ten times as much.
 */
const native = {
  enumerable: true,
  get(this: { readonly [own]: Session }) {
    return this[own].reader.native()
  },
}

function txOver(session: Session, writer: Writer | undefined, statements: Statements): Tx {
  const { reader } = session

  /** A call that was not awaited could otherwise read or write in another transaction. */
  function reading(): Reader {
    if (session.ended)
      throw new StorageError('closed', 'this transaction has ended; await every call on `tx` before `work` returns')
    return reader
  }

  function writing(): Writer {
    reading()
    if (!writer) throw new TypeError('a transaction with `readOnly: true` cannot write; leave the option out')
    return writer
  }

  const firstOf = (table: TableShape, [row]: Rows): AnyRow | undefined => row && statements.reader(table)(row)

  /** Which key of a row is taken, looked up after the fact: the database only said that one is. */
  async function violation(table: TableShape, row: AnyRow): Promise<Error> {
    for (const key of [['id'], ...table.unique]) {
      const values = Object.fromEntries(key.map((name) => [name, row[name]]))
      if (Object.values(values).includes(null)) continue
      const rows = await reader.query(statements.find(table, { where: values, limit: 1 }))
      if (rows.length > 0) return new UniqueViolation(table.name, key)
    }
    return new Conflict(`${table.name}: the conflicting row is gone`)
  }

  async function change(statement: Statement, table: TableShape, changed: AnyRow): Promise<AnyRow | undefined> {
    const open = writing()
    const mayCollide = 'id' in changed || table.unique.some((key) => key.some((name) => changed[name] !== undefined))
    return firstOf(table, await (mayCollide ? open.attempt(statement, table) : open.query(statement)))
  }

  const tx = {
    [own]: session,

    async get(table: TableShape, id: string) {
      const open = reading()
      const rows = open.query(statements.get(table, id))
      return firstOf(table, rows instanceof Promise ? await rows : rows)
    },

    async find(table: TableShape, query: RowQuery) {
      const open = reading()
      // A page out of reach may have a number that no database takes.
      if (query.limit === 0 || (query.offset ?? 0) > Number.MAX_SAFE_INTEGER) return []
      return (await open.query(statements.find(table, query))).map(statements.reader(table))
    },

    async count(table: TableShape, query: RowQuery) {
      const [row] = await reading().query(statements.count(table, query))
      return Number(row?.[0])
    },

    async insert(table: TableShape, row: AnyRow) {
      if (!(await writing().insert(statements.insert(table, row)))) throw await violation(table, row)
      return stored(table, row)
    },

    async update(table: TableShape, id: string, patch: AnyRow, guard: AnyRow = {}) {
      return change(statements.update(table, id, patch, guard), table, patch)
    },

    async increment(table: TableShape, id: string, by: AnyRow, guard: AnyRow = {}) {
      return change(statements.increment(table, id, by, guard), table, by)
    },

    async remove(table: TableShape, id: string, guard: AnyRow = {}) {
      return firstOf(table, await writing().query(statements.remove(table, id, guard)))
    },

    async lock(table: TableShape, id: string, strength: LockStrength) {
      const open = writing()
      const gate = statements.gate(table, id, strength)
      if (!gate) return firstOf(table, await open.query(statements.lock(table, id, strength)))
      // Together, and in this order: the row is read when the gate is passed.
      const [[passed], rows] = await Promise.all([open.query(gate), open.query(statements.lock(table, id, strength))])
      // A host's transaction may read a snapshot from before that. A lock of the row then throws if the row has changed since.
      if (strength === 'use' && passed?.[0] !== 'read committed') await open.query(statements.lock(table, id, 'share'))
      return firstOf(table, rows)
    },

    async append(records: readonly OutboxRecord[]) {
      const open = writing()
      if (records.length > 0) await open.append(records)
    },
  }
  // Rows come and go without their types, by table; what comes out of a table is what its own type let in.
  return Object.defineProperty(tx, 'native', native) as unknown as Tx
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
