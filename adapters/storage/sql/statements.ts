/** The statements of the storage contract, as text with parameters. */
import type { Dialect, Parameter, SqlValue } from './dialect.ts'
import { quoted } from './dialect.ts'
import { type AnyRow, encodeValue, encodeWanted, type TableShape } from './values.ts'

export interface Statement {
  readonly sql: string
  readonly values: readonly Parameter[]
}

export interface RowQuery {
  readonly where?: AnyRow
  readonly order?: { readonly by: string; readonly direction: 'asc' | 'desc' }
  readonly after?: string | number
  readonly limit?: number
  readonly offset?: number
}

const upwards = { by: 'id', direction: 'asc' } as const
/** Values of a list that are sought one by one. */
const mostBranches = 8

/** The statements of one dialect. */
export type Statements = ReturnType<typeof statementsOf>

export function statementsOf(dialect: Dialect) {
  // By the columns, not by the name: a host may have tables of other versions side by side.
  const lists = new WeakMap<TableShape['columns'], string>()

  /** The columns of a table in their order, as a list for SELECT and RETURNING. */
  function columnsOf(table: TableShape): string {
    const known = lists.get(table.columns)
    if (known !== undefined) return known
    const list = Object.keys(table.columns).map(quoted).join(', ')
    lists.set(table.columns, list)
    return list
  }

  /** Collects the parameters of one statement. */
  function parameters() {
    const values: Parameter[] = []
    const add = (value: Parameter): string => {
      values.push(value)
      return dialect.parameter(values.length)
    }
    return { values, add }
  }

  type Add = (value: Parameter) => string

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
    Object.entries(where).map(([name, wanted]) => condition(table, name, wanted, add))

  const clause = (all: readonly string[]): string => (all.length > 0 ? ` WHERE ${all.join(' AND ')}` : '')

  /** What comes after a value. Null is before everything, so going down it comes last. */
  function beyond(table: TableShape, by: string, direction: 'asc' | 'desc', after: string | number, add: Add): string {
    const column = table.columns[by]
    // A place in a list comes back out of a link as text, whatever the column holds.
    const isNumber = column?.type === 'integer' || column?.type === 'real'
    const value = column && encodeWanted(dialect, column.type, isNumber ? Number(after) : String(after))
    if (value === undefined) throw new RangeError(`\`after\` is no ${column?.type ?? 'column'} of ${table.name}.${by}`)
    const further = `${quoted(by)} ${direction === 'asc' ? '>' : '<'} ${add(value)}`
    return direction === 'desc' && column?.nullable ? `(${further} OR ${quoted(by)} IS NULL)` : further
  }

  function ordering(table: TableShape, by: string, direction: 'asc' | 'desc'): string {
    const word = direction === 'asc' ? 'ASC' : 'DESC'
    if (by === 'id') return ` ORDER BY "id" ${word}`
    const nulls = table.columns[by]?.nullable ? dialect.nulls(direction) : ''
    return ` ORDER BY ${quoted(by)} ${word}${nulls}, "id" ${word}`
  }

  /** Everything of a SELECT but its limits. */
  function selection(table: TableShape, { where = {}, order, after }: RowQuery, add: Add): string {
    const { by, direction } = order ?? upwards
    const all = conditions(table, where, add)
    if (after !== undefined) all.push(beyond(table, by, direction, after, add))
    return `SELECT ${columnsOf(table)} FROM ${dialect.table(table.name)}${clause(all)}${ordering(table, by, direction)}`
  }

  function bounds({ limit, offset = 0 }: RowQuery, add: Add): string {
    const most = limit === undefined ? (offset > 0 ? dialect.noLimit : '') : ` LIMIT ${add(limit)}`
    return offset > 0 ? `${most} OFFSET ${add(offset)}` : most
  }

  /**
   * One query per value of a list. No index has the rows of several values in one order: a page of them would cost as much
   * as all of them. Each value by itself gives what could stand in the page.
   */
  function branchesOf(table: TableShape, { where = {}, order, after, limit, offset = 0 }: RowQuery): readonly RowQuery[] {
    if (limit === undefined) return []
    const lists = Object.entries(where).filter(([name, wanted]) => Array.isArray(wanted) && table.columns[name]?.type !== 'json')
    const [name, wanted] = lists[0] ?? []
    if (lists.length !== 1 || name === undefined || name === 'id' || name === order?.by || !Array.isArray(wanted)) return []
    const values = [...new Set<unknown>(wanted)]
    if (values.length < 2 || values.length > mostBranches) return []
    const rest = { ...(order ? { order } : {}), ...(after === undefined ? {} : { after }), limit: offset + limit }
    return values.map((value) => ({ ...rest, where: { ...where, [name]: value } }))
  }

  function union(table: TableShape, { order }: RowQuery, branches: readonly RowQuery[], add: Add): string {
    const { by, direction } = order ?? upwards
    const parts = branches.map(
      (branch, place) =>
        `SELECT ${columnsOf(table)} FROM (${selection(table, branch, add)}${bounds(branch, add)}) AS part${place}`,
    )
    return `${parts.join(' UNION ALL ')}${ordering(table, by, direction)}`
  }

  return {
    get(table: TableShape, id: string): Statement {
      const { values, add } = parameters()
      return {
        sql: `SELECT ${columnsOf(table)} FROM ${dialect.table(table.name)}${clause(conditions(table, { id }, add))}`,
        values,
      }
    },

    find(table: TableShape, query: RowQuery): Statement {
      const { values, add } = parameters()
      const branches = branchesOf(table, query)
      const sql = branches.length === 0 ? selection(table, query, add) : union(table, query, branches, add)
      return { sql: `${sql}${bounds(query, add)}`, values }
    },

    count(table: TableShape, where: AnyRow): Statement {
      const { values, add } = parameters()
      return { sql: `SELECT count(*) FROM ${dialect.table(table.name)}${clause(conditions(table, where, add))}`, values }
    },

    /** Gives the id back when the row went in, and nothing when a key was taken: no error that would end a transaction. */
    insert(table: TableShape, row: AnyRow): Statement {
      const { values, add } = parameters()
      const places = Object.keys(table.columns).map((name) => add(encodeValue(dialect, table, name, row[name])))
      const sql = `INSERT INTO ${dialect.table(table.name)} (${columnsOf(table)}) VALUES (${places.join(', ')}) ON CONFLICT DO NOTHING RETURNING "id"`
      return { sql, values }
    },

    /** A patch that changes nothing becomes a look at the row. */
    update(table: TableShape, id: string, patch: AnyRow, guard: AnyRow): Statement {
      const { values, add } = parameters()
      const changes = Object.entries(patch)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => `${quoted(name)} = ${add(encodeValue(dialect, table, name, value))}`)
      const where = clause([...conditions(table, { id }, add), ...conditions(table, guard, add)])
      const name = dialect.table(table.name)
      const sql =
        changes.length === 0
          ? `SELECT ${columnsOf(table)} FROM ${name}${where}`
          : `UPDATE ${name} SET ${changes.join(', ')}${where} RETURNING ${columnsOf(table)}`
      return { sql, values }
    },

    remove(table: TableShape, id: string): Statement {
      const { values, add } = parameters()
      const where = clause(conditions(table, { id }, add))
      return { sql: `DELETE FROM ${dialect.table(table.name)}${where} RETURNING ${columnsOf(table)}`, values }
    },

    append(records: string): Statement {
      return { sql: `INSERT INTO ${dialect.table('outbox')} ("records") VALUES (${dialect.parameter(1)})`, values: [records] }
    },
  }
}
