/** How an export of a table is declared: its columns in their order, and those that other tables add. */
import type { Fields } from '../../fields.ts'
import { fullName } from '../../records/member.ts'
import { visibleEmail } from '../../records/visible-email.ts'
import { conditionsOf, type Filters, fieldsOf } from '../../rules/filters/filter.ts'
import type { Conditions } from '../../storage/contract.ts'
import { rowsNamed } from '../../storage/rows-of.ts'
import type { ScopedTx } from '../../storage/scoped.ts'
import type { Row, Table } from '../../storage/table.ts'
import type { NetworkRow } from '../../storage/tables/administration.ts'
import { type MemberRow, members } from '../../storage/tables/members.ts'

/** One row of an export: values by column, in the order of the columns. */
export type ExportRow = Readonly<Record<string, unknown>>

/** Some rows of an export, and its columns. */
export interface ExportPage {
  readonly columns: readonly string[]
  readonly rows: readonly ExportRow[]
  /** The `after` of the next page; null on the last. A page with `next` may hold few rows, or none. */
  readonly next: string | null
}

/** The rows of all pages. @param leave is called with the place at which the caller stops */
export async function* rowsOfPages(
  read: (after: { readonly after?: string }) => Promise<ExportPage>,
  leave: (next: string) => void,
): AsyncGenerator<ExportRow> {
  let after: string | null | undefined
  try {
    while (after !== null) {
      const { rows, next }: ExportPage = await read(after === undefined ? {} : { after })
      after = next
      yield* rows
    }
  } finally {
    if (typeof after === 'string') leave(after)
  }
}

/** Where rows are read, and how addresses are shown. */
export interface Showing {
  readonly tx: ScopedTx
  readonly network: NetworkRow
  readonly trueAddresses: boolean
}

export interface Subject {
  readonly filter: Fields
  /** @param given the checked filter */
  page(showing: Showing, given: object, after: string | undefined, limit: number): Promise<ExportPage>
}

export const addressOf = (row: MemberRow, { network, trueAddresses }: Showing): string =>
  trueAddresses ? row.email : visibleEmail(row, network)

/** Columns that follow from the rows of a page. */
interface Addition<R> {
  readonly columns: readonly string[]
  /** Their values, row by row. @param soFar the rows with what the additions before have added */
  of(showing: Showing, rows: readonly R[], soFar: readonly ExportRow[]): Promise<readonly ExportRow[]>
}

type Cells<R> = Readonly<Record<string, (row: R, showing: Showing) => unknown>>

/** Columns of the rows that a column names: `space_id` adds `space_name`. */
export function joined<R extends Row, N>(
  by: string,
  table: Table<R, N>,
  cells: Cells<R>,
  prefix = by.replace(/id$/, ''),
): Addition<unknown> {
  const columns = Object.keys(cells).map((name) => prefix + name)
  return {
    columns,
    async of(showing, _rows, soFar) {
      const naming = soFar.map((row) => ({ id: String(row[by] ?? '') || null }))
      const found = await rowsNamed(showing.tx, table, 'id', naming)
      const values = new Map([...found].map(([id, row]) => [id, valuesOf(cells, row, showing, prefix)]))
      return naming.map(({ id }) => values.get(id ?? '') ?? {})
    },
  }
}

const valuesOf = <R>(cells: Cells<R>, row: R, showing: Showing, prefix = ''): ExportRow =>
  Object.fromEntries(Object.entries(cells).map(([name, value]) => [prefix + name, value(row, showing)]))

/** The name and the address of the member whom a column names. */
export const person = (by: string) => joined(by, members, { name: fullName, email: addressOf })
/** What an export of a table leaves out, and what it adds. */
interface Shape<R> {
  readonly where?: Conditions<R>['where']
  readonly omit?: readonly (keyof R & string)[]
  readonly cells?: Cells<R>
  readonly add?: readonly Addition<R>[]
  readonly filters?: Filters<R>
}

export function rowsIn<R extends Row, N>(
  table: Table<R, N>,
  { where = {}, omit = [], cells = {}, add = [], filters = {} }: Shape<NoInfer<R>>,
): Subject {
  const left: readonly string[] = ['network_id', ...omit]
  const own = Object.keys(table.columns).filter((name) => !left.includes(name) && !table.columns[name]?.derived)
  const columns = [...new Set([...own, ...Object.keys(cells), ...add.flatMap((each) => each.columns)])]
  return {
    filter: fieldsOf(filters),
    async page(showing, given, after, limit) {
      const conditions = conditionsOf(filters, given, { network: showing.network, principal: { scopes: ['*'] } })
      const found = await showing.tx.find(table, {
        ...conditions,
        ...{ where: { ...where, ...conditions.where }, limit: limit + 1 },
        ...(after === undefined ? {} : { after }),
      })
      const rows = found.slice(0, limit)
      let values: readonly ExportRow[] = rows.map((row) => ({ ...row, ...valuesOf(cells, row, showing) }))
      for (const addition of add) {
        const added = await addition.of(showing, rows, values)
        values = values.map((row, index) => ({ ...row, ...added[index] }))
      }
      return {
        columns,
        rows: values.map((row) => Object.fromEntries(columns.map((column) => [column, row[column] ?? null]))),
        next: found.length > limit ? (rows.at(-1)?.id ?? null) : null,
      }
    },
  }
}
