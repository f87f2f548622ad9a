/**
 * Records as JSON text that the database writes: a page of them need not become values first. A field is declared
 * as data, so that one declaration serves databases and code.
 */
import type { Table } from './table.ts'

/** Where the value of a JSON field comes from. Null stays null. */
export type JsonSource =
  /** The column, by its type; an id is a string. */
  | { readonly from: 'column'; readonly column: string }
  /** The id in a column, as a number. */
  | { readonly from: 'number'; readonly column: string }
  /** A text that is the same for all rows. */
  | { readonly from: 'text'; readonly text: string }
  /** A text around a column that is never null. */
  | { readonly from: 'around'; readonly before: string; readonly column: string; readonly after: string }
  /** The address in a column; one that begins with a slash follows `base`. */
  | { readonly from: 'address'; readonly column: string; readonly base: string }
  /** One of two texts, by a column of booleans. */
  | { readonly from: 'choice'; readonly column: string; readonly yes: TextSource; readonly no: TextSource }
  /** A column with a JSON list of records, of which these fields are shown. */
  | { readonly from: 'list'; readonly column: string; readonly fields: readonly ListField[] }
  | { readonly from: 'nothing' }

/** A text, or a column of texts. */
export type TextSource = Extract<JsonSource, { readonly from: 'column' | 'text' }>

/** A field of the records in a list; one that `isNumber` is an id to be shown as a number. */
export interface ListField {
  readonly name: string
  readonly isNumber: boolean
}

/** The fields of a record, in their order. */
export type JsonFields = readonly (readonly [name: string, source: JsonSource])[]

/** The sources of the fields that are not the column of the same name. */
export type Sources = Readonly<Record<string, JsonSource>>

/** Rows as the text of their records. */
export interface JsonRows {
  /** The records in the order of the rows, with a comma between two of them. UTF-8 where it is bytes; empty without rows. */
  readonly json: string | Uint8Array
  /** How many rows these are. */
  readonly count: number
  /** The last row's value in the column that orders the rows; null without rows. */
  readonly last: string | null
  /** Whether rows follow that `limit` has left out. */
  readonly hasMore: boolean
}

/**
 * The value of a source for a row, for storages that write no JSON. Lists and addresses stay as they are: their schema handles
 * the rest.
 */
export function shownValue(source: JsonSource, row: Readonly<Record<string, unknown>>): unknown {
  switch (source.from) {
    case 'text':
      return source.text
    case 'around':
      return `${source.before}${row[source.column]}${source.after}`
    case 'choice':
      return shownValue(row[source.column] === true ? source.yes : source.no, row)
    case 'nothing':
      return null
    default:
      return row[source.column]
  }
}

/** Whether the JSON of a column is the same whoever writes it: numbers with a fraction are not. */
export const isWritable = (table: Pick<Table, 'columns'>, column: string): boolean => {
  const type = table.columns[column]?.type
  return type !== undefined && type !== 'real'
}
