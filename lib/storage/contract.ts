/**
 * The storage contract: what an engineer implements to put the Admin API on their own database.
 *
 * Terms
 * - **Storage**: opens transactions. Nothing else reads or writes.
 * - **Transaction**: all of its rows and records, or none. It is the only door to data.
 * - **Record**: what `append` takes: an event, or a change of a webhook endpoint, on its way to the outbox.
 * - **Outbox**: where the relay finds the records of committed transactions, and of no others.
 * - **Guard**: the values that a row must still have for a change or a removal to happen; compare-and-set.
 * - **Lock**: keeps other transactions from changing or removing a row until this one ends.
 *
 * Write one function that returns a `Storage`, and run the suite of `folkmoot/testing/storage` over it: when it passes, the
 * adapter is right. Ids, timestamps, network scoping, defaults, validation and paging are the library's work, not yours.
 */
import type { OutboxRecord } from '../outbox/record.ts'
import type { Id, Row, Table } from './table.ts'

/**
 * Equality per column: a value, null, or a list of values of which one must match (an empty list matches no row). Texts are equal
 * if all of their code units are: case, accents and blanks at the end count.
 */
export type Where<R> = { readonly [K in keyof R]?: R[K] | readonly R[K][] }

/** From a value, up to but without another one. Values compare as in the order of a query; null is in no range. */
export interface Range {
  /** The first value that matches. Text for a column of numbers will do. */
  readonly from?: string | number
  /** The first value that no longer matches. */
  readonly before?: string | number
}

/** That a row is named by a row of another table. `within` of `conditions.ts` makes it. */
export interface Within {
  /** The table whose rows name others. */
  readonly table: Pick<Table, 'name' | 'columns' | 'unique' | 'indexes' | 'usual'>
  /** Its column that holds their ids. */
  readonly column: string
  /** Which of its rows count, as in `Where`. */
  readonly where: Readonly<Record<string, unknown>>
}

/** What a row must meet; all of it. Without any condition, all rows match. */
export interface Conditions<R> {
  /** Equality per column. */
  readonly where?: Where<R>
  /** Ranges per column. */
  readonly ranges?: { readonly [K in keyof R]?: Range }
  /** Texts per column, each of which must occur in it, by code unit. They occur in no null. */
  readonly contains?: { readonly [K in keyof R]?: readonly string[] }
  /** Each must hold: the id of the row is a value of `column` among the rows of `table` that match. */
  readonly within?: readonly Within[]
}

/** Which rows are counted, and up to how many. */
export interface CountQuery<R> extends Conditions<R> {
  /** Counting may stop there: of more rows the count is this number. */
  readonly limit?: number
}

/** Which rows of a table, in which order, and how many. */
export interface Query<R> extends Conditions<R> {
  /**
   * One column, `id` ascending by default. Rows with the same value follow each other by id in the same direction.
   * Ids compare as numbers, text by code unit or by its bytes in UTF-8, to its end. Null comes before every value.
   */
  readonly order?: { readonly by: keyof R & string; readonly direction: 'asc' | 'desc' }
  /**
   * Only rows whose value of the order column comes after this one, which may be given as text for a column of numbers, too. Rows
   * with the same value are left out. The caller orders by a column that is never null under `where`.
   */
  readonly after?: string | number
  /** At most this many rows. */
  readonly limit?: number
  /** Leave out this many rows first. */
  readonly offset?: number
}

/** A patch: columns to change. `undefined` leaves a column as it is. A row keeps its id and its network. */
export type Patch<R> = { readonly [K in Exclude<keyof R, 'id' | 'network_id'>]?: R[K] | undefined }

/** Numbers to add to columns; a negative one subtracts. */
export type Increment<R> = { readonly [K in keyof R as R[K] extends number ? K : never]?: number }

/**
 * `share`: the row stays as it is; other transactions may take the same lock at the same time. `update`: no other transaction
 * may lock the row, change it or remove it. Take the stronger lock first: two transactions that both hold `share` and then
 * change the row wait for each other.
 *
 * `use`: excludes `close` alone, so that a transaction can still take any other lock of the row, or change it. `close`: waits for
 * every transaction that holds `use`, and is `update` in addition. None that asks for `use` later may come before it. Where two
 * strengths are all that there is, take `update` for both.
 */
export type LockStrength = 'share' | 'update' | 'use' | 'close'

/**
 * One transaction's door to the data. Rows that come out are frozen or copies: nothing that a caller does to them reaches
 * the store. A transaction reads its own writes. Calls may come before the results of earlier ones; carry them out in their
 * order.
 */
export interface Tx {
  /** The row with this id, or `undefined`. */
  get<R extends Row, N>(table: Table<R, N>, id: Id): Promise<R | undefined>
  /** The rows that match, in order. */
  find<R extends Row, N>(table: Table<R, N>, query: Query<R>): Promise<R[]>
  /** How many rows match, or `limit` if that is less. */
  count<R extends Row, N>(table: Table<R, N>, query: CountQuery<R>): Promise<number>
  /**
   * Stores a whole row (every column present) and returns it.
   * @throws UniqueViolation naming the columns of the key that is taken; `['id']` for the id itself
   */
  insert<R extends Row, N>(table: Table<R, N>, row: R): Promise<R>
  /**
   * Changes a row and returns it, or `undefined` if no row has this id or `guard` no longer holds. A patch that is empty, or
   * has the values of the row, returns the row, too. Atomic: two updates with the same guard never both happen.
   * @throws UniqueViolation
   */
  update<R extends Row, N>(table: Table<R, N>, id: Id, patch: Patch<R>, guard?: Where<R>): Promise<R | undefined>
  /**
   * Adds to columns of a row and returns the row, also if it adds zero or nothing. Returns `undefined` if no row has this id
   * or `guard` does not hold.
   * Atomic: of any number of concurrent increments none is lost.
   * @throws UniqueViolation
   */
  increment<R extends Row, N>(table: Table<R, N>, id: Id, by: Increment<R>, guard?: Where<R>): Promise<R | undefined>
  /**
   * Removes a row and returns it, or `undefined` if it did not exist or `guard` does not hold. Of two concurrent removals one
   * gets the row.
   */
  remove<R extends Row, N>(table: Table<R, N>, id: Id, guard?: Where<R>): Promise<R | undefined>
  /**
   * Locks a row until the transaction ends and returns its present state, or `undefined` if it does not exist. Waits for
   * transactions that hold a lock which excludes this one. The same as `get` where transactions that write run one at a time.
   */
  lock<R extends Row, N>(table: Table<R, N>, id: Id, strength: LockStrength): Promise<R | undefined>
  /** Puts records into the outbox if and only if this transaction commits, in the order of the calls. */
  append(records: readonly OutboxRecord[]): Promise<void>
  /** The database handle of this transaction, so that a host's own tables can join; `undefined` without one. */
  readonly native?: unknown
}

/** A promise about the work of a transaction; `transaction` of `Storage` describes it. */
export interface TransactionOptions {
  /** The work writes nothing, and reads one state throughout. A write is a TypeError. */
  readonly readOnly?: boolean
  /** The work is a preview: it throws at its end in any case. A storage need not know. */
  readonly isPreview?: boolean
}

/**
 * Ways that only make a storage faster. All are optional, and leaving them out changes no result.
 * @experimental they may change in any version
 */
export interface FastPaths {
  /**
   * A number that changes with every commit, before any caller can see that commit. If it is the number of a moment before a
   * read began, the rows of that read are still the same. `NaN` if nothing is certain. It must be much cheaper than a read.
   * @param tables only commits that change rows of these tables matter. A storage that does not distinguish them counts every commit
   */
  version?(tables?: readonly Pick<Table, 'name'>[]): number
}

/**
 * Snapshots that stay open between calls while others write, so that the pages of an export show one state. The storage bounds their
 * number and their time, and ends them when it closes.
 */
export interface HeldSnapshots {
  /** Begins one. @returns its name; `undefined` if there are too many */
  hold(): string | undefined
  /** A transaction that only reads; `undefined` if the snapshot is over. It may end at any time, and its calls then throw a StorageError. */
  tx(name: string): Promise<Tx> | undefined
  /** Ends one, if it is still there. */
  leave(name: string): void
}

/** A database of rows and events. An adapter is a function that returns one; `testStorage` verifies it. */
export interface Storage {
  /**
   * Runs `work` atomically: its rows and records are durable when this resolves, and nothing of it happened when this rejects,
   * unless with `unknown`. An error of `work` comes through unchanged, whatever its `code`.
   *
   * READ COMMITTED is enough for work that writes, where each statement sees what was committed before it. A snapshot from its
   * beginning is too old: what the holder of a lock changed would not be seen. Work with `readOnly` reads one state throughout.
   *
   * A UniqueViolation ends the work, and the library runs it again, so nothing need work after it. If a statement has undone
   * the transaction, as at a deadlock, each later call and the commit throw, even if `work` catches the error.
   *
   * Transactions never nest: one that waits for another one of the same storage would wait for itself. An adapter refuses it
   * with a TypeError. Work that begins in a transaction and continues after its end may open one.
   *
   * @param options `readOnly` promises that `work` writes nothing; an adapter may run it on a cheaper path
   * @throws TypeError inside of another transaction of the same storage
   * @throws Conflict when the caller must run the work again
   * @throws StorageError `full`, `unavailable` or `closed`; nothing was written
   * @throws StorageError `unknown` when the commit was sent and its outcome is not known: all of it was written, or nothing
   */
  transaction<T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Where a relay finds the outbox: a directory, `sqlite:PATH` or `postgres://…`. Left out if a relay cannot open it by an address. */
  readonly outbox?: string
  /** Waits for running transactions, then frees files, sockets and locks. May be called again. */
  close(): Promise<void>
  /**
   * A storage whose transactions are part of one that the host has open on its own connection to the same database. Left out
   * where there is no such thing. It throws Conflict only if its savepoint could be undone. If the host's transaction is gone,
   * it throws StorageError `unavailable`: the host runs all of it again.
   */
  using?(native: unknown): Storage
  /** Left out, each page of an export is a transaction of its own. */
  readonly snapshots?: HeldSnapshots
  /** @experimental */
  readonly fast?: FastPaths
}

/** The outbox of a storage without an outbox table (memory, lowdb), for the records of its commits. */
export interface OutboxWriter {
  /**
   * Makes the records of these commits durable, in order; one inner list per commit, which stays together.
   * @throws StorageError `full` or `unavailable`; then none of them may be taken for durable
   */
  append(commits: readonly (readonly OutboxRecord[])[]): Promise<void>
  /** Where a relay finds it, as for `folkmoot-relay run --outbox`. */
  readonly address?: string
  /** Waits for running appends, then frees its files. */
  close(): Promise<void>
}

/** Why a storage refused: `isStorageError(error) && error.code`. */
export type StorageErrorCode =
  | 'unique'
  | 'conflict'
  | 'full'
  | 'unavailable'
  | 'unknown'
  | 'damaged'
  | 'locked'
  | 'newer'
  | 'closed'

const brand = Symbol.for('folkmoot.StorageError')

/**
 * An error of a storage. Its `code` names the kind:
 *
 * - `unique`: a key is taken. `conflict`: run the transaction again.
 * - `full`: no space is left. `unavailable`: the database is unreachable or out of connections; retry later.
 * - `unknown`: the commit was sent and its outcome is unknown. It is never thrown if nothing was written.
 * - `damaged`: a file is incomplete or not folkmoot's; it was left alone. `newer`: a newer version wrote it.
 * - `locked`: another process holds it. `closed`: the storage was closed.
 */
export class StorageError extends Error {
  readonly [brand] = true
  /** The kind of error, as listed above: `unique`, `conflict`, `full`, … */
  readonly code: StorageErrorCode

  constructor(code: StorageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StorageError'
    this.code = code
  }
}

/** A unique key is taken. `key` names its columns, `['id']` for the primary key. */
export class UniqueViolation extends StorageError {
  /** The name of the table. */
  readonly table: string
  /** The columns of the key that is taken, without their values. */
  readonly key: readonly string[]

  constructor(table: string, key: readonly string[]) {
    super('unique', `${table}: a row with the same ${key.join(', ')} exists`)
    this.name = 'UniqueViolation'
    this.table = table
    this.key = key
  }
}

/** The transaction lost a race and did nothing; running it again will do. `folkmoot/storage` exports it as `TransactionConflict`. */
export class Conflict extends StorageError {
  constructor(message: string, options?: ErrorOptions) {
    super('conflict', message, options)
    this.name = 'TransactionConflict'
  }
}

/** Whether a value is a storage error, of this copy of the package or of another. */
export function isStorageError(value: unknown): value is StorageError {
  return typeof value === 'object' && value !== null && brand in value
}

/** Whether a value is a unique violation. */
export function isUniqueViolation(value: unknown): value is UniqueViolation {
  return isStorageError(value) && value.code === 'unique'
}
