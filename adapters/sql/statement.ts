/** A statement of SQL, and what its senders must know of it. */
import type { LockStrength } from '../../lib/storage/contract.ts'
import type { Parameter, SqlValue } from './dialect.ts'
import type { AnyRow } from './values.ts'

/** A statement with its values. */
export interface Statement {
  /** The text, with a placeholder for each value. */
  readonly sql: string
  /** In the order of the placeholders. */
  readonly values: readonly Parameter[]
  /** Asks for one row at most. */
  readonly single?: boolean
  /** The text that asks for a list of ids instead of one, and where an answer has the id. One that locks waits for nobody. */
  readonly byIds?: ByIds
  /** The table of which it reads rows, where it only reads. */
  readonly reads?: string
  /** The table of which it changes rows. A lock changes none. */
  readonly writes?: string
  /** How it locks the row that it reads. */
  readonly locks?: LockStrength
  /** The text that passes over a row whose lock it would wait for. */
  readonly skipLocked?: string
  /** Of an insert: the text that adds several rows. Answers are the ids that it added. */
  readonly manyRows?: ManyRows
  /** Whether it may wait for another transaction that has stored the same key. Ids are fresh. */
  readonly mayCollide?: boolean
}

/** A statement that asks for rows by a list of ids. */
export interface ByIds {
  /** The text, whose list of ids is one parameter. */
  readonly sql: string
  /** The column of an answer that has the id, from 0. */
  readonly place: number
}

export interface ManyRows extends ByIds {
  /** The parameters, each a list, of the values of each column. */
  lists(values: readonly (readonly SqlValue[])[]): readonly Parameter[]
}

export interface RowQuery {
  readonly where?: AnyRow
  readonly order?: { readonly by: string; readonly direction: 'asc' | 'desc' }
  readonly after?: string | number
  readonly limit?: number
  readonly offset?: number
}
