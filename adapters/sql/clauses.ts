/** The clauses of statements: conditions, positions in a list, orders and limits. */
import type { Further } from '../../lib/storage/conditions.ts'
import type { Within } from '../../lib/storage/contract.ts'
import { type Dialect, type List, literal, quoted, type SqlValue } from './dialect.ts'
import { type AnyRow, encodeWanted, type TableShape } from './values.ts'

/** Adds a parameter to a statement. @returns its place in the text */
export type Add = (value: List) => string

interface Bounds {
  readonly limit?: number
  readonly offset?: number
}

/** The condition that a row has another value than the usual one of a column, for an index and for queries by it. */
export function unusual({ usual }: TableShape, name: string): string | undefined {
  const value = usual?.[name]
  return value === undefined ? undefined : `${quoted(name)} <> ${literal(value)}`
}

/** Whether a condition on a column leaves out the rows that have its usual value. */
export const isUnusual = ({ usual }: TableShape, name: string, wanted: unknown): boolean =>
  usual?.[name] !== undefined && typeof wanted === 'string' && wanted !== usual[name]

export function clausesOf(dialect: Dialect) {
  function parameters() {
    const values: List[] = []
    const add = (value: List): string => {
      values.push(value)
      return dialect.parameter(values.length)
    }
    return { values, add }
  }

  function condition(table: TableShape, name: string, wanted: unknown, add: Add): string {
    const type = table.columns[name]?.type
    if (type === undefined) throw new RangeError(`${table.name} has no column ${name}`)
    const column = type === 'json' ? dialect.jsonText(quoted(name)) : quoted(name)
    if (wanted === null) return `${column} IS NULL`
    const all: readonly unknown[] = Array.isArray(wanted) && type !== 'json' ? [...new Set(wanted)] : [wanted]
    const found = all.map((value) => encodeWanted(dialect, type, value)).filter((value): value is SqlValue => value !== undefined)
    const [first] = found
    const either = [
      ...(first === undefined
        ? []
        : [found.length === 1 ? `${column} = ${add(first)}` : dialect.oneOf(column, type, found, add)]),
      ...(all.includes(null) ? [`${column} IS NULL`] : []),
    ]
    if (either.length === 0) return 'FALSE'
    return either.length === 1 ? either.join() : `(${either.join(' OR ')})`
  }

  const conditions = (table: TableShape, where: AnyRow, add: Add): string[] =>
    Object.entries(where).flatMap(([name, wanted]) => {
      const one = condition(table, name, wanted, add)
      // A parameter alone does not show the planner that the index has every row of the value.
      const further = isUnusual(table, name, wanted) ? unusual(table, name) : undefined
      return further === undefined ? [one] : [one, further]
    })

  /** The conditions beside equality, but for those `within` other tables. */
  const further = (table: TableShape, { ranges = {}, contains = {} }: Further, add: Add): string[] => [
    ...Object.entries(ranges).flatMap(([name, { from, before } = {}]) => [
      ...(from === undefined ? [] : [`${quoted(name)} >= ${add(placeIn(table, name, from))}`]),
      ...(before === undefined ? [] : [`${quoted(name)} < ${add(placeIn(table, name, before))}`]),
    ]),
    ...Object.entries(contains).flatMap(([name, texts = []]) =>
      texts.map((text) => {
        const wanted = encodeWanted(dialect, 'text', text)
        return wanted === undefined ? 'FALSE' : dialect.contains(quoted(name), text, add)
      }),
    ),
  ]

  /** The rows of another table that name ids, from its FROM on. @param more further conditions, as text */
  const named = ({ table, where }: Within, add: Add, more: readonly string[] = []): string =>
    `FROM ${dialect.table(table.name)}${clause([...conditions(table, where, add), ...more])}`

  const clause = (all: readonly string[]): string => (all.length > 0 ? ` WHERE ${all.join(' AND ')}` : '')

  /** A position in a list as its column has it. A link returns it as text, for every column type. */
  function placeIn(table: TableShape, by: string, after: string | number): SqlValue {
    const type = table.columns[by]?.type
    const isNumber = type === 'integer' || type === 'real'
    const value = type && encodeWanted(dialect, type, isNumber ? Number(after) : String(after))
    if (value === undefined) throw new RangeError(`\`after\` is not a ${type ?? 'column'} of ${table.name}.${by}`)
    return value
  }

  /** The rows after a value. Null is before everything, so going down it comes last. */
  function beyond(table: TableShape, by: string, direction: 'asc' | 'desc', after: string | number, add: Add): string {
    const further = `${quoted(by)} ${direction === 'asc' ? '>' : '<'} ${add(placeIn(table, by, after))}`
    return direction === 'desc' && table.columns[by]?.nullable ? `(${further} OR ${quoted(by)} IS NULL)` : further
  }

  function ordering(table: TableShape, by: string, direction: 'asc' | 'desc'): string {
    const word = direction === 'asc' ? 'ASC' : 'DESC'
    if (by === 'id') return ` ORDER BY "id" ${word}`
    const nulls = table.columns[by]?.nullable ? dialect.nulls(direction) : ''
    return ` ORDER BY ${quoted(by)} ${word}${nulls}, "id" ${word}`
  }

  const isWritten = (limit: number | undefined): boolean => limit !== undefined && dialect.writtenLimits.has(limit)

  function bounds({ limit, offset = 0 }: Bounds, add: Add): string {
    const most =
      limit === undefined ? (offset > 0 ? dialect.noLimit : '') : ` LIMIT ${isWritten(limit) ? limit : dialect.bound(add(limit))}`
    return offset > 0 ? `${most} OFFSET ${dialect.bound(add(offset))}` : most
  }

  return { parameters, conditions, further, named, clause, placeIn, beyond, ordering, bounds, isWritten }
}
