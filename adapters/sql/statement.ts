/** A statement of SQL, and what its senders must know of it. */
import type { Further } from '../../lib/storage/conditions.ts'
import type { List } from './dialect.ts'
import type { AnyRow } from './values.ts'

export interface Statement {
  /** The text, with a placeholder for each value. */
  readonly sql: string
  /** In the order of the placeholders. */
  readonly values: readonly List[]
  /** Its plan depends on its values: it is planned for them each time, where a database would otherwise keep one plan for all. */
  readonly hasOwnPlan?: boolean
  /** Reads one row at most. */
  readonly single?: boolean
  /** The table of which it reads rows, where it only reads. */
  readonly reads?: string
  /** The table of which it changes rows. A lock changes none. */
  readonly writes?: string
}

export interface RowQuery extends Further {
  readonly where?: AnyRow
  readonly order?: { readonly by: string; readonly direction: 'asc' | 'desc' }
  readonly after?: string | number
  readonly limit?: number
  readonly offset?: number
}
