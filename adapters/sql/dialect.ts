/** Where the SQL of the two databases differs; everything else about it is written once. */
import type { LockStrength } from '../../lib/storage/contract.ts'
import type { ColumnType } from '../../lib/storage/table.ts'

/** What goes into a statement and comes out of it. */
export type SqlValue = string | number | boolean | null
/** A parameter; a list only where the dialect has arrays. */
export type Parameter = SqlValue | readonly SqlValue[]
/** A column's type; an `identity` is a primary key that the database numbers. */
export type SqlType = ColumnType | 'identity'

export interface Dialect {
  readonly engine: 'sqlite' | 'postgres'
  /** A table's full name, quoted. */
  table(name: string): string
  /** An index's name as it stands in the catalogue, unquoted. */
  indexName(name: string): string
  /** The n-th parameter of a statement, from 1. */
  parameter(place: number): string
  /**
   * A condition that a column has one of at least two values.
   * @param add takes a parameter and gives its text
   */
  oneOf(column: string, type: ColumnType, values: readonly SqlValue[], add: (value: Parameter) => string): string
  /** A condition that a column has one of the values of a list of any length, which is one parameter (`list`). */
  among(column: string, type: ColumnType, parameter: string): string
  /** A list as one parameter. */
  list(values: readonly SqlValue[]): Parameter
  /** The type of a column as DDL, collation included. */
  readonly types: Readonly<Record<SqlType, string>>
  /** What stands behind the closing parenthesis of a new table. */
  tableOptions(given: string | undefined): string
  /** Says for an index or an order where nulls go; empty where they come first by themselves. */
  nulls(direction: 'asc' | 'desc'): string
  /** Whether every index ends in the row's id by itself. */
  readonly indexesEndInId: boolean
  /** The text of a JSON column, where it must be compared. */
  jsonText(column: string): string
  /** Whether a text can be stored unchanged; half of a surrogate pair never can. */
  storesText(text: string): boolean
  /** A value on its way into a column. */
  encode(type: ColumnType, value: unknown): SqlValue
  /** What a value that is not null becomes when it comes out of a column; types that are not here come as they are. */
  readonly decoders: Readonly<Partial<Record<ColumnType, (value: unknown) => unknown>>>
  /** Ends a SELECT that locks its row; empty where one transaction writes at a time. */
  lock(strength: LockStrength): string
  /** A parameter as it stands behind LIMIT and OFFSET. */
  bound(parameter: string): string
  /** No row limit where there is an offset: SQLite knows no OFFSET without a LIMIT. */
  readonly noLimit: string
  /** Milliseconds since 1970 by the database's clock. */
  readonly now: string
}

/** A name of ours in SQL; ours have no quotes in them. */
export const quoted = (name: string): string => `"${name}"`

/** A text as an SQL literal, for DDL, which takes no parameters. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`
