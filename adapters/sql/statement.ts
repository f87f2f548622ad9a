/** A statement of SQL, and what its senders must know of it. */
import type { List } from './dialect.ts'
import type { AnyRow } from './values.ts'

/** A statement with its values. */
export interface Statement {
  /** The text, with a placeholder for each value. */
  readonly sql: string
  /** In the order of the placeholders. */
  readonly values: readonly List[]
  /** Asks for one row at most. */
  readonly single?: boolean
  /** The text that asks for a list of ids instead of one, and where an answer has the id. */
  readonly byIds?: ByIds
  /** The table of which it reads rows, where it only reads. */
  readonly reads?: string
  /** The table of which it changes rows. A lock changes none. */
  readonly writes?: string
}

/** A statement that asks for rows by a list of ids. */
export interface ByIds {
  /** The text, whose list of ids is one parameter. */
  readonly sql: string
  /** The column of an answer that has the id, from 0. */
  readonly place: number
}

export interface RowQuery {
  readonly where?: AnyRow
  readonly order?: { readonly by: string; readonly direction: 'asc' | 'desc' }
  readonly after?: string | number
  readonly limit?: number
  readonly offset?: number
}
