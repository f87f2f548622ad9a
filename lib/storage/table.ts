/**
 * Tables as data: columns with types, unique keys, indexes and references. Adapters make their DDL from them, and resource
 * files read and write through them. `tables/` is the data model, with a file for each area.
 */

import type { Id } from '../base/ids.ts'

export type { Id }

/** The type of a column. `id` is a decimal string here and a 64-bit integer in a database; `timestamp` is ISO 8601 in UTC. */
export type ColumnType = 'id' | 'text' | 'integer' | 'real' | 'boolean' | 'timestamp' | 'json'

/** The effect of a removed parent on a row: it is removed, it blocks the removal, or its reference becomes null. */
export type OnRemove = 'cascade' | 'restrict' | 'clear'

/** A column that holds the id of another table's row. */
export interface Reference {
  /** The name of the other table. */
  readonly table: string
  /** What becomes of the row when the other one is removed. */
  readonly onRemove: OnRemove
}

/** One column. `Value` is what a row holds, `Omittable` whether an insert may leave it out. */
export interface Column<Value = unknown, Omittable extends boolean = boolean> {
  /** What it holds, from which adapters choose a type of the database. */
  readonly type: ColumnType
  /** Whether a row may hold null. */
  readonly nullable: boolean
  /** The value that an insert without this column stores. */
  readonly default?: Value
  /** Of a column with an id of another table: which one, and what its removal does. */
  readonly references?: Reference
  /** Whether the value says something about the person whose row it is: then an erasure takes it out of the row. */
  readonly personal?: boolean
  /** Of a column that follows from others of its row: the library keeps it, and no caller sets it. */
  readonly derived?: Derivation
  /** Types only; never set. */
  readonly '~omittable'?: Omittable
}

/** How a column follows from others of its row. */
export interface Derivation {
  /** The columns from which it follows. */
  readonly from: readonly string[]
  /** The value, of the row or of these columns alone. */
  of(row: Readonly<Record<string, unknown>>): unknown
}

/** The columns of every row. */
export interface Row {
  /** A decimal string, unique in the table. */
  readonly id: Id
  /** The network that it belongs to. */
  readonly network_id: Id
  /** ISO 8601, UTC. It never changes. */
  readonly created_at: string
  /** When it last changed. ISO 8601, UTC. */
  readonly updated_at: string
}

/** The columns of a table, by their names. */
export type Columns = Readonly<Record<string, Column>>

/** One table. `Row` is the type of its rows, `New` the type of what an insert takes. */
export interface Table<R extends Row = Row, New = unknown> {
  /** As in the database, `members`, perhaps with a prefix there. */
  readonly name: string
  /** Every column, `id`, `network_id`, `created_at` and `updated_at` first. */
  readonly columns: Columns
  /**
   * Unique keys, each written out with `network_id` unless the table is global. A null in a key never collides. A text in a key
   * has at most 765 code points, which are up to 3,060 bytes in UTF-8. In a key of two texts it has 255. The key of a name of 255
   * may be three times as long as the name, and the option `limits.titleCharacters` raises that.
   */
  readonly unique: readonly (readonly string[])[]
  /**
   * Indexes, each written out with `id` last, and with `network_id` first unless the table is global. A text in an index has at
   * most 500 code points.
   */
  readonly indexes: readonly (readonly string[])[]
  /**
   * By column, the value that most rows have: by it no list needs an index. An index with that column need not have those rows, and
   * then costs nothing when one is added.
   */
  readonly usual?: Readonly<Record<string, string>>
  /** A text whose parts are searched, so that an adapter may index them, and columns whose whole text is in it. No text has NUL. */
  readonly searched?: { readonly column: string; readonly holds: readonly string[] }
  /** Its rows are added and read; the scoped transaction refuses every change of one. */
  readonly appendOnly?: true
  /** Types only; never set. */
  readonly '~row'?: R
  readonly '~new'?: (row: New) => void
}

type Value<C> = C extends Column<infer V, boolean> ? V : never
type Flatten<T> = { [K in keyof T]: T[K] }
type RowOf<C> = Flatten<Row & { readonly [K in keyof C]: Value<C[K]> }>
type OmittableKeys<C> = { [K in keyof C]: C[K] extends Column<infer _V, true> ? K : never }[keyof C]
type NewOf<C> = Flatten<
  Pick<Row, 'id' | 'created_at' | 'updated_at'> & { readonly [K in Exclude<keyof C, OmittableKeys<C>>]: Value<C[K]> } & {
    readonly [K in OmittableKeys<C>]?: Value<C[K]> | undefined
  }
>

/** The type of a table's rows. */
export type RowIn<T> = T extends Table<infer R, infer _New> ? R : never
/** The type of what an insert into a table takes, without `network_id`, which the scoped transaction adds. */
export type NewIn<T> = T extends Table<infer _R, infer New> ? New : never

const column = <V>(type: ColumnType): Column<V, false> => ({ type, nullable: false })

/** A 64-bit integer: in rows a text of decimal digits, from 0 to 2^53 - 1. Ids order as numbers. */
export const id = (): Column<Id, false> => column('id')
/** A text; `text<'a' | 'b'>()` where only some values occur. */
export const text = <T extends string = string>(): Column<T, false> => column('text')
/** A whole number from -(2^53 - 1) to 2^53 - 1. */
export const integer = (): Column<number, false> => column('integer')
/** A floating-point number of 64 bits. */
export const real = (): Column<number, false> => column('real')
/** True or false. */
export const boolean = (): Column<boolean, false> => column('boolean')
/** ISO 8601 in UTC with milliseconds, which comes back as the same text. */
export const timestamp = (): Column<string, false> => column('timestamp')
/** A value stored as one JSON document, for parts that are never searched. */
export const json = <V>(): Column<V, false> => column('json')

/** An id of another table's row. `onRemove` decides what happens to this row when that one is removed. */
export const reference = (table: string, onRemove: OnRemove): Column<Id, false> => ({
  ...id(),
  references: { table, onRemove },
})

const withReference = (of: Column) => (of.references ? { references: of.references } : {})

/** The same column, which may be null; an insert may omit it. */
export const nullable = <V>(of: Column<V, false>): Column<V | null, true> => ({
  type: of.type,
  nullable: true,
  default: null,
  ...withReference(of),
})

/** The same column with a value for inserts that leave it out. */
export const defaultsTo = <V>(of: Column<V, false>, value: NoInfer<V>): Column<V, true> => ({
  type: of.type,
  nullable: false,
  default: value,
  ...withReference(of),
})

/**
 * A text that follows from other columns of its row: the library keeps it.
 * @param from the columns from which it follows
 * @param of the text, from these columns
 */
export const derived = <Source>(from: readonly (keyof Source & string)[], of: (row: Source) => string): Column<string, true> => ({
  type: 'text',
  nullable: false,
  default: '',
  derived: { from, of: (row) => of(row as Source) },
})

/** The columns of a table that follow from others, of a row with those. */
export const derivedColumns = ({ columns }: Pick<Table, 'columns'>, row: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(columns).flatMap(([name, { derived }]) => (derived ? [[name, derived.of({ ...row })] as const] : [])),
  )

/** The same column, whose value an erasure replaces by null, by its default, or by an empty text. */
export const personal = <C extends Column>(of: C): C => ({ ...of, personal: true })

/** The same column, whose value stays when the person is erased: it says nothing about them. */
export const kept = <C extends Column>(of: C): C => ({ ...of, personal: false })

/** The personal columns of a table, each with the value that an erased row has. */
export const erasedColumns = (of: { readonly columns: Columns }): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(of.columns)
      .filter(([, { personal: isPersonal }]) => isPersonal)
      .map(([name, { nullable: isNullable, default: usual = '' }]) => [name, isNullable ? null : usual]),
  )

type Key<C> = ((keyof C & string) | keyof Row)[]

const common = { id: id(), network_id: id(), created_at: timestamp(), updated_at: timestamp() }

/**
 * Declares a table.
 *
 * @param name the table's name, in the plural
 * @param columns its own columns, in addition to `id`, `network_id`, `created_at` and `updated_at`, which every table has
 * @param keys `unique` and `indexes` name columns. The network is put before each and the id after each index. With `global`
 * the keys hold across networks: API keys are looked up before the network is known. With `appendOnly` no row is changed.
 * `usual` names values of columns that are never null: see `Table`, also for `searched`.
 */
export function table<const C extends Columns>(
  name: string,
  columns: C,
  keys: {
    unique?: Key<C>[]
    indexes?: Key<C>[]
    usual?: Readonly<Record<string, string>>
    searched?: { column: keyof C & string; holds: (keyof C & string)[] }
    global?: boolean
    appendOnly?: boolean
  } = {},
): Table<RowOf<C>, NewOf<C>> {
  const scope = keys.global ? [] : ['network_id']
  const unique = (keys.unique ?? []).map((key) => [...scope, ...key])
  const indexes = [[...scope, 'id'], ...(keys.indexes ?? []).map((key) => [...scope, ...key, 'id'])]
  // Removing a row looks for those that point to it, so every reference is served by an index or a unique key.
  for (const [name, column] of Object.entries(columns))
    if (column.references && ![...unique, ...indexes].some((key) => key[scope.length] === name))
      indexes.push([...scope, name, 'id'])
  return Object.freeze({
    name,
    columns: { ...common, ...columns },
    unique,
    indexes,
    ...(keys.usual ? { usual: keys.usual } : {}),
    ...(keys.searched ? { searched: keys.searched } : {}),
    ...(keys.appendOnly ? { appendOnly: true } : {}),
  })
}
