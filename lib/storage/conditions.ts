/** Conditions of queries: made, put together, and met by rows in memory. */
import { comparing } from './compare.ts'
import type { Conditions, Range, Where, Within } from './contract.ts'
import type { Columns, Row, Table } from './table.ts'

/** The rows that another table names in a column, among its rows that match. */
export const within = <R extends Row, N>(table: Table<R, N>, column: keyof R & string, where: Where<R>): Within => {
  const { name, columns, unique, indexes } = table
  return { table: { name, columns, unique, indexes }, column, where }
}

/** Conditions that must all hold. No two name one column in the same way, but for the two ends of a range. */
export function allOf<R>(all: readonly Conditions<R>[]): Conditions<R> {
  const ranges: Record<string, Range> = {}
  for (const { ranges: some = {} } of all)
    for (const [name, range] of Object.entries<Range | undefined>(some)) ranges[name] = { ...ranges[name], ...range }
  return {
    where: Object.assign({}, ...all.map(({ where }) => where)),
    ranges: ranges as NonNullable<Conditions<R>['ranges']>,
    contains: Object.assign({}, ...all.map(({ contains }) => contains)),
    within: all.flatMap(({ within = [] }) => within),
  }
}

type AnyRow = Readonly<Record<string, unknown>>

/** The conditions of a query beside equality. */
export interface Further {
  readonly ranges?: Readonly<Record<string, Range | undefined>>
  readonly contains?: Readonly<Record<string, readonly string[] | undefined>>
  readonly within?: readonly Within[]
}

const hasSome = (of: object | undefined): boolean => of !== undefined && Object.keys(of).length > 0

/** Whether there is a condition beside equality. */
export const isFurther = ({ ranges, contains, within }: Further): boolean =>
  hasSome(ranges) || hasSome(contains) || hasSome(within)

/**
 * Whether rows meet the conditions beside equality.
 * @param named the ids that each of `within` leaves
 */
export function meeting(
  columns: Columns,
  { ranges = {}, contains = {} }: Further,
  named: readonly ReadonlySet<unknown>[],
): (row: AnyRow) => boolean {
  const tests = [
    ...Object.entries(ranges).map(([name, { from, before } = {}]) => {
      const compare = comparing(columns[name]?.type)
      const isIn = (value: unknown) =>
        (from === undefined || compare(value, from) >= 0) && (before === undefined || compare(value, before) < 0)
      return (row: AnyRow) => row[name] !== null && isIn(row[name])
    }),
    ...Object.entries(contains).map(([name, texts = []]) => (row: AnyRow) => {
      const value = row[name]
      return typeof value === 'string' && texts.every((text) => value.includes(text))
    }),
    ...named.map((ids) => (row: AnyRow) => ids.has(row['id'])),
  ]
  return (row) => tests.every((isMet) => isMet(row))
}
