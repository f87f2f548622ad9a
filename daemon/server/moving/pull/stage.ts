/**
 * How one list of the API becomes rows. A stage declares what does not follow by itself: a column with the name of a field of the
 * record takes that field.
 */
import { isPaged } from '../../../../lib/fields.ts'
import type { Group } from '../../../../lib/operation.ts'
import { operations } from '../../../../lib/operations.ts'
import type { Where } from '../../../../lib/storage/contract.ts'
import type { ScopedTx } from '../../../../lib/storage/scoped.ts'
import type { Id, Row, Table } from '../../../../lib/storage/table.ts'
import type { ApiRecord } from '../api-record.ts'
import type { Ids } from './ids.ts'

/** Facts that come to light on the way, and are needed at the end. */
export interface Facts {
  addressShown: boolean
  addressMasked: boolean
}

/** Where a record was found. */
export interface Place {
  /** The ids in the path of the list, as they are here. */
  readonly params: Readonly<Record<string, Id>>
  /** The rows of these ids. */
  readonly parents: readonly ApiRecord[]
  readonly ids: Ids
  /** The member whom the token belongs to. */
  readonly owner: Id
  readonly facts: Facts
}

/** Makes a value out of a record; `undefined` leaves the column as it is. */
type Maker = (record: ApiRecord, place: Place) => unknown
type Makers<R> = { readonly [Column in keyof R]?: Maker }

/** Rows in whose paths a list is. */
export interface Parent {
  /** The name of the id in the path. */
  readonly param: string
  readonly table: Table<Row>
  readonly where: Where<Row>
}

interface Declared<R extends Row, N> {
  /** Its name in reports. */
  readonly name: string
  /** Its name for `--only`. */
  readonly group: Group
  /** The id of the operation. */
  readonly list: string
  readonly query?: Readonly<Record<string, string>>
  readonly parents?: readonly Parent[]
  readonly table: Table<R, N>
  /** The columns by which a row is found, where its record has no id. */
  readonly key?: readonly (keyof NoInfer<R> & string)[]
  /** The rows of the target that this list shows: those of them that it does not show any more are gone. */
  readonly shown: (place: Pick<Place, 'params'>) => Where<NoInfer<R>>
  /** Whether fields of the record become columns of the same name. A record of something else only names its own. */
  readonly takesFields?: boolean
  /** Columns that are not the field of the same name. */
  readonly columns?: Makers<NoInfer<R>>
  /** Columns that are set when the row is new. */
  readonly inserts?: Makers<NoInfer<R>>
  /** A unique column that an earlier row keeps: the row that comes later has null. */
  readonly keeps?: keyof NoInfer<R> & string
  /** Segments whose counts say how many records all lists of this stage have. */
  readonly counted?: 'tag' | 'badge'
  /** Whether a record can become a row. */
  accepts?(tx: ScopedTx, record: ApiRecord, place: Place): Promise<boolean>
  /** Rows in addition to the record's own one. */
  related?(tx: ScopedTx, record: ApiRecord, place: Place): Promise<void>
  /**
   * Takes away a row that is gone.
   * @returns whether it could be taken away
   */
  gone?(tx: ScopedTx, row: NoInfer<R>): Promise<boolean>
}

/** A stage, with its types erased. */
export interface Stage extends Omit<Declared<Row, unknown>, 'columns' | 'inserts' | 'key' | 'keeps' | 'parents' | 'gone'> {
  readonly parents: readonly Parent[]
  readonly key: readonly string[]
  readonly keeps?: string
  readonly columns: Readonly<Record<string, Maker>>
  readonly inserts: Readonly<Record<string, Maker>>
  /** The columns that take the field of their name. */
  readonly fields: ReadonlySet<string>
  gone?(tx: ScopedTx, row: Row): Promise<boolean>
}

function fieldsOf(list: string): readonly string[] {
  const returns = operations.find(({ id }) => id === list)?.returns
  if (!returns || !isPaged(returns) || !('entries' in returns.paged)) throw new TypeError(`${list} is no list of records`)
  return Object.keys(Object(returns.paged.entries))
}

export function stage<R extends Row, N>(declared: Declared<R, N>): Stage {
  const { table, list, takesFields = true } = declared
  const fields = takesFields ? fieldsOf(list).filter((name) => name in table.columns && name !== 'network_id') : []
  const erased = { parents: [], key: ['id'], columns: {}, inserts: {}, ...declared, fields: new Set(fields) }
  // Rows go from record to table without their types, which `columns` was checked against.
  return Object.freeze(erased) as unknown as Stage
}

export const under = <R extends Row, N>(param: string, table: Table<R, N>, where: Where<R> = {}): Parent =>
  ({ param, table, where }) as unknown as Parent
