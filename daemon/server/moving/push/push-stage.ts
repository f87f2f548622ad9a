/** How the rows of one table become records of a server: what a create and an update of the API take of them. */
import type { Group } from '../../../../lib/operation.ts'
import { operations } from '../../../../lib/operations.ts'
import type { Where } from '../../../../lib/storage/contract.ts'
import type { ScopedTx } from '../../../../lib/storage/scoped.ts'
import type { Columns, Id, Row, Table } from '../../../../lib/storage/table.ts'
import type { Given } from '../given.ts'
import type { Paced } from '../paced-client.ts'

/** A record that cannot be on the server, and why. */
export class LeftOut extends Error {
  override readonly name = 'LeftOut'
  /** Whether the server has refused it. Else the API takes no such record at all. */
  readonly refused: boolean
  constructor(reason: string, refused = false) {
    super(reason)
    this.refused = refused
  }
}

/** The parts of a push that stages use. */
export interface Push {
  readonly reads: Pick<ScopedTx, 'find'>
  readonly target: Paced
  /** The member of the storage who is the member of the token. */
  owner(): Id | undefined
  /**
   * The id on the server of a row.
   * @param list the list of the API that has the row, if its name is not that of the table
   * @throws LeftOut if it is not there
   */
  there(table: string, id: Id, list?: string): string
  /** The same, or `undefined` if it is not there. */
  thereIf(table: string, id: Id): string | undefined
  /** Uploads the file at an address, once. @throws LeftOut if it cannot be had */
  upload(url: string): Promise<string>
}

type Label = readonly [table: string, key: string, to: string]

interface Declared<R extends Row> {
  /** Its name in reports. */
  readonly name: string
  /** Its name for `--only`. */
  readonly group: Group
  readonly table: Table<R>
  readonly where?: Where<NoInfer<R>>
  /** The rows in the order of the server; by id by default. */
  rows?(push: Push): AsyncIterable<NoInfer<R>>
  /** Whether the server has its records in one list with those of its neighbouring stages. They are sent in the order of that list. */
  readonly isInFeed?: boolean
  /** The table under which others find the id of the record; the stage's own by default. */
  readonly label?: string
  /** The key of a row whose id does not stay. */
  key?(row: NoInfer<R>): string
  /** A column with another row of this table, which must be on the server before. */
  readonly parent?: keyof NoInfer<R> & string
  /** The operation that makes the record; none for a second pass over records that are there. */
  readonly create?: string
  /** The operation that changes it. */
  readonly update?: string
  /** Whether a change sends every field, and not those alone that changed. */
  readonly isWhole?: boolean
  /** Whether a second pass is for rows of which nothing was noted, too. */
  readonly isAlways?: boolean
  /** Why a second pass finds no record. */
  readonly missing?: string
  /** Whether the answer to a create has no id that others need. */
  readonly hasNoId?: boolean
  /** The ids in the paths of both operations, except the record's own. */
  params?(row: NoInfer<R>, push: Push): Readonly<Record<string, string>>
  query?(row: NoInfer<R>, push: Push): Readonly<Record<string, string>>
  /** The body of a create. @throws LeftOut */
  body?(row: NoInfer<R>, push: Push): Readonly<Record<string, unknown>> | Promise<Readonly<Record<string, unknown>>>
  /** The fields that an update takes. */
  changes?(row: NoInfer<R>, push: Push): Readonly<Record<string, unknown>> | Promise<Readonly<Record<string, unknown>>>
  /** The id of a record on the server because of which a create is refused. */
  taken?(row: NoInfer<R>, push: Push): Promise<string | undefined>
  /** Other rows that this create has made. */
  related?(row: NoInfer<R>, answer: Given, push: Push): readonly Label[] | Promise<readonly Label[]>
  /** Why a row is not for the API at all. */
  reason?(row: NoInfer<R>, push: Push): string | undefined
  /** The columns whose defaults the server has too; those of the table by default. */
  readonly columns?: Columns
  /** Columns that the server makes of others, or that are sent under other names. */
  readonly follows?: readonly (keyof NoInfer<R> & string)[]
  /** Columns with the member who made it: the server takes the member of the token. */
  readonly madeBy?: keyof NoInfer<R> & string
  /** Other parts of a row that are lost. */
  loses?(row: NoInfer<R>): readonly string[]
}

/** A stage, with its types erased. */
export interface PushStage extends Omit<Declared<Row>, 'parent' | 'madeBy' | 'follows'> {
  readonly label: string
  readonly parent?: string
  readonly madeBy?: string
  /** The columns that the API does not take. */
  readonly lost: readonly string[]
}

/** Columns that every row has. */
const common = ['id', 'network_id', 'created_at', 'updated_at']

function fieldsOf(operation: string | undefined): readonly string[] {
  const found = operations.find(({ id }) => id === operation)
  if (operation !== undefined && !found) throw new TypeError(`there is no operation ${operation}`)
  const { body } = found ?? {}
  return body && 'entries' in body ? Object.keys(Object(body.entries)) : []
}

/** Declares a stage. */
export function pushStage<R extends Row, N>(declared: Omit<Declared<R>, 'table'> & { readonly table: Table<R, N> }): PushStage {
  const { table, create, update, follows = [], madeBy } = declared
  const taken = new Set<string>([...common, ...follows, ...fieldsOf(create), ...fieldsOf(update), ...(madeBy ? [madeBy] : [])])
  const lost = create === undefined ? [] : Object.keys(table.columns).filter((name) => !taken.has(name))
  const erased = { label: table.name, ...declared, lost }
  // Rows go from table to record without their types, which the makers were checked against.
  return Object.freeze(erased) as unknown as PushStage
}

/** A body without the fields that nobody gave. */
export const given = (body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== undefined))
