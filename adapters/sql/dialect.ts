/** Where the SQL of the two databases differs; everything else about it is written once. */
import type { LockStrength } from '../../lib/storage/contract.ts'
import type { ColumnType } from '../../lib/storage/table.ts'

export type SqlValue = string | number | boolean | null
/** A list as a parameter: itself where the dialect has arrays, else a text. */
export type List = SqlValue | readonly SqlValue[]
/** A column's type; an `identity` is a primary key that the database numbers. */
export type SqlType = ColumnType | 'identity'

export interface Dialect {
  readonly engine: 'sqlite' | 'postgres'
  /** A table's full name, quoted. */
  table(name: string): string
  /** An index's name as in the catalogue, unquoted. */
  indexName(name: string): string
  /** The n-th parameter of a statement, from 1. */
  parameter(place: number): string
  /**
   * A condition that a column has one of at least two values.
   * @param add takes a parameter and gives its text
   */
  oneOf(column: string, type: ColumnType, values: readonly SqlValue[], add: (value: List) => string): string
  /** A condition that a column has one of the values of a list of any length, which is one parameter (`list`). */
  among(column: string, type: ColumnType, parameter: string): string
  /** A condition that a text occurs in a column. */
  contains(column: string, text: string, add: (value: List) => string): string
  /** Where it has an index of the parts of texts: a condition on rows of that index, whose ids are in `rowid`. None for short parts. */
  matching?(index: string, parts: readonly string[], add: (value: List) => string): string | undefined
  /**
   * The statements that make an index of the parts of the texts of a column, and fill it; none where the database cannot.
   * @param trigrams see `Existing`
   */
  searchIndex(table: string, column: string, trigrams: string | undefined): readonly string[]
  /** A list as one parameter. */
  list(values: readonly SqlValue[]): List
  /** The type of a column as DDL, collation included. */
  readonly types: Readonly<Record<SqlType, string>>
  /** The text after the closing parenthesis of a new table. */
  tableOptions(given: string | undefined): string
  /** The position of nulls in an index or an order; empty if they come first by themselves. */
  nulls(direction: 'asc' | 'desc'): string
  /** Whether every index ends in the row's id by itself. */
  readonly indexesEndInId: boolean
  /** The text of a JSON column, where it must be compared. */
  jsonText(column: string): string
  /** Whether a text can be stored unchanged; half of a surrogate pair never can. */
  storesText(text: string): boolean
  /** A value on its way into a column. */
  encode(type: ColumnType, value: unknown): SqlValue
  /** Decodes a value of a column that is not null; other types are unchanged. */
  readonly decoders: Readonly<Partial<Record<ColumnType, (value: unknown) => unknown>>>
  /** Ends a SELECT that locks its row; empty where one transaction writes at a time. */
  lock(strength: LockStrength): string
  /**
   * A statement that takes the part of a lock which is no lock of the row; its parameter is the id. It yields the isolation of the
   * transaction. None where `lock` is empty.
   */
  gate?(table: string, strength: LockStrength): string | undefined
  /** A parameter after LIMIT and OFFSET. */
  bound(parameter: string): string
  /** Limits that are written into a statement, in place of a parameter: its plan may depend on them. */
  readonly writtenLimits: ReadonlySet<number>
  /** No row limit with an offset: SQLite has no OFFSET without a LIMIT. */
  readonly noLimit: string
  /** Begins the update of one row, found by its id. */
  readonly updateOne: string
  /** Milliseconds since 1970 by the database's clock. */
  readonly now: string
}

/** A name of this package in SQL; these names have no quotes in them. */
export const quoted = (name: string): string => `"${name}"`

/** The name of the index of the parts of a table's texts. */
export const searchName = (table: string): string => `${table}_search`

/** A text as an SQL literal, for DDL, which takes no parameters. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`
