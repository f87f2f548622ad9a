/** The statements of the storage contract, as text with parameters. */
import type { OutboxRecord } from '../../lib/outbox/record.ts'
import { recordsText } from '../../lib/outbox/text.ts'
import { isFurther } from '../../lib/storage/conditions.ts'
import type { LockStrength, Within } from '../../lib/storage/contract.ts'
import { type Add, clausesOf, isUnusual } from './clauses.ts'
import { type Dialect, quoted, type SqlValue, searchName } from './dialect.ts'
import { preparedFor } from './prepared.ts'
import type { RowQuery, Statement } from './statement.ts'
import { type AnyRow, encodeValue, encodeWanted, type TableShape } from './values.ts'

const upwards = { by: 'id', direction: 'asc' } as const
/** Values of a list that are sought one by one. */
const maxBranches = 8

/** Whether a table names no id twice: its rows that match then lead to as many rows. */
function isOnce({ table, column, where }: Within): boolean {
  const isOne = (name: string) =>
    name === column || !(where[name] === undefined || where[name] === null || Array.isArray(where[name]))
  if (column === 'id') return true
  return table.columns[column]?.nullable === false && table.unique.some((key) => key.includes(column) && key.every(isOne))
}

/** The ids from which a query in their order begins. */
interface Leading {
  /** The rows of another table, if it is these. */
  readonly within?: Within
  /** @param seek the condition of a place, by the name of the column with the ids */
  ids(add: Add, seek: (of: TableShape, column: string) => readonly string[]): string
}

export type Statements = ReturnType<typeof statementsOf>

export function statementsOf(dialect: Dialect) {
  const { parameters, conditions, further, named, clause, placeIn, beyond, ordering, bounds, isWritten } = clausesOf(dialect)
  const preparedOf = preparedFor(dialect)
  const columnsOf = (table: TableShape): string => preparedOf(table).list

  /** The ids from which a query begins, if it does: those that another table names, or those of an index of texts. */
  function leadingOf(table: TableShape, { where = {}, within = [], contains = {}, order }: RowQuery): Leading | undefined {
    if ((order?.by ?? 'id') !== 'id' || 'id' in where) return undefined
    const once = within.find(isOnce)
    if (once)
      return {
        within: once,
        ids: (add, seek) => `SELECT ${quoted(once.column)} AS "named_id" ${named(once, add, seek(once.table, once.column))}`,
      }
    const { column, holds = [] } = table.searched ?? {}
    const texts = Object.entries(contains).flatMap(([name, texts = []]) => (name === column || holds.includes(name) ? texts : []))
    const index = searchName(table.name)
    const indexed: TableShape = { ...table, columns: { rowid: { type: 'id', nullable: false } } }
    if (dialect.matching?.(index, texts, () => '') === undefined) return undefined
    const ids: Leading['ids'] = (add, seek) =>
      `SELECT rowid AS "named_id" FROM ${dialect.table(index)}${clause([...seek(indexed, 'rowid'), dialect.matching?.(index, texts, add) ?? ''])}`
    return { ids }
  }
  const append = `INSERT INTO ${dialect.table('outbox')} ("records") VALUES (${dialect.parameter(1)})`

  /**
   * A SELECT without its order and its limits.
   * @param leading the ids that another table names, in whose order the rows are read: a page then costs as much as a page
   */
  function source(table: TableShape, query: RowQuery, add: Add, columns: string, leading: Leading | undefined): string {
    const { where = {}, within = [], order, after } = query
    const { by, direction } = order ?? upwards
    const others = within
      .filter((one) => one !== leading?.within)
      .map((one) =>
        leading
          ? `EXISTS (SELECT 1 ${named(one, add, [`${quoted(one.column)} = "named_id"`])})`
          : `"id" IN (SELECT ${quoted(one.column)} ${named(one, add)})`,
      )
    const all = [...conditions(table, where, add), ...further(table, query, add), ...others]
    const name = dialect.table(table.name)
    const seek = (of: TableShape, column: string) => (after === undefined ? [] : [beyond(of, column, direction, after, add)])
    if (!leading) return `SELECT ${columns} FROM ${name}${clause([...all, ...seek(table, by)])}`
    // CROSS JOIN: SQLite then reads the ids first.
    return `SELECT ${columns} FROM (${leading.ids(add, seek)}) AS named CROSS JOIN ${name}${clause(['"id" = "named_id"', ...all])}`
  }

  /** Everything of a SELECT but its limits. */
  function selection(table: TableShape, query: RowQuery, add: Add, columns: string = columnsOf(table)): string {
    const { by, direction } = query.order ?? upwards
    const leading = leadingOf(table, query)
    const order = leading ? ` ORDER BY "named_id" ${direction === 'asc' ? 'ASC' : 'DESC'}` : ordering(table, by, direction)
    return `${source(table, query, add, columns, leading)}${order}`
  }

  /**
   * One query per value of a list. No index has the rows of several values in one order: a page of them would cost as much as
   * all of them. Each value alone yields every row that could be on the page.
   */
  function branchesOf(table: TableShape, query: RowQuery): readonly RowQuery[] {
    const { where = {}, order, limit, offset = 0 } = query
    if (limit === undefined) return []
    const lists = Object.entries(where).filter(([name, wanted]) => Array.isArray(wanted) && table.columns[name]?.type !== 'json')
    const [name, wanted] = lists[0] ?? []
    if (lists.length !== 1 || name === undefined || name === 'id' || name === order?.by || !Array.isArray(wanted)) return []
    const values = [...new Set<unknown>(wanted)]
    if (values.length < 2 || values.length > maxBranches) return []
    return values.map((value) => ({ ...query, offset: 0, limit: offset + limit, where: { ...where, [name]: value } }))
  }

  /** The rows of all branches. Behind an offset the branches give no more than the columns of the order, which the index has. */
  function union(table: TableShape, query: RowQuery, branches: readonly RowQuery[], add: Add): string {
    const { by, direction } = query.order ?? upwards
    const isBehind = (query.offset ?? 0) > 0
    const columns = isBehind ? [...new Set(['id', by])].map(quoted).join(', ') : columnsOf(table)
    const parts = branches.map(
      (branch, place) =>
        `SELECT ${columns} FROM (${selection(table, branch, add, columns)}${bounds(branch, add)}) AS part${place}`,
    )
    const order = ordering(table, by, direction)
    const all = `${parts.join(' UNION ALL ')}${order}${bounds(query, add)}`
    if (!isBehind) return all
    const rows = `SELECT ${columnsOf(table)} FROM ${dialect.table(table.name)}`
    return `${rows} WHERE "id" IN (SELECT "id" FROM (${all}) AS page)${order}`
  }

  function written(table: TableShape, query: RowQuery): Statement {
    const { values, add } = parameters()
    const branches = branchesOf(table, query)
    const sql =
      branches.length === 0 ? `${selection(table, query, add)}${bounds(query, add)}` : union(table, query, branches, add)
    return { sql, values, hasOwnPlan: isFurther(query), reads: table.name }
  }

  /** A query whose text depends on little: single values and nulls, no list, and nothing that no row can have. */
  function plain(table: TableShape, query: RowQuery): Statement | undefined {
    if (isFurther(query)) return undefined
    const { where = {}, order, after, limit, offset = 0 } = query
    const values: SqlValue[] = []
    let shape = `${order?.by} ${order?.direction} ${after === undefined} ${isWritten(limit) ? limit : limit === undefined} ${offset > 0}`
    for (const name in where) {
      const wanted = where[name]
      const type = table.columns[name]?.type
      if (type === undefined || type === 'json') return undefined
      shape += wanted === null ? ` ${name} null` : ` ${name}`
      if (wanted === null) continue
      const value = encodeWanted(dialect, type, wanted)
      if (value === undefined) return undefined
      if (isUnusual(table, name, wanted)) shape += ' unusual'
      values.push(value)
    }
    const { finds } = preparedOf(table)
    const sql = finds.get(shape)
    if (sql === undefined) {
      const statement = written(table, query)
      finds.set(shape, statement.sql)
      return statement
    }
    if (after !== undefined) values.push(placeIn(table, order?.by ?? 'id', after))
    if (limit !== undefined && !isWritten(limit)) values.push(limit)
    if (offset > 0) values.push(offset)
    return { sql, values, single: limit === 1, reads: table.name }
  }

  /**
   * Changes columns of a row. An update without changes becomes a read of the row.
   * @param assigned what a column is set to, by the text of its parameter
   */
  function change(
    table: TableShape,
    id: string,
    given: AnyRow,
    guard: AnyRow,
    assigned: (name: string, parameter: string) => string,
  ): Statement {
    const { values, add } = parameters()
    const changes = Object.entries(given)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${quoted(name)} = ${assigned(name, add(encodeValue(dialect, table, name, value)))}`)
    const where = clause([...conditions(table, { id }, add), ...conditions(table, guard, add)])
    const name = dialect.table(table.name)
    if (changes.length === 0) return { sql: `SELECT ${columnsOf(table)} FROM ${name}${where}`, values }
    return {
      sql: `${dialect.updateOne} ${name} SET ${changes.join(', ')}${where} RETURNING ${columnsOf(table)}`,
      values,
      writes: table.name,
    }
  }

  function get(table: TableShape, id: string): Statement {
    const wanted = encodeWanted(dialect, 'id', id)
    if (wanted === undefined) return written(table, { where: { id } })
    const { get } = preparedOf(table)
    return { sql: get, values: [wanted], single: true, reads: table.name }
  }

  return {
    /** Makes rows of a table out of the values of its columns. */
    reader: (table: TableShape) => preparedOf(table).read,

    get,

    find: (table: TableShape, query: RowQuery): Statement => plain(table, query) ?? written(table, query),

    count(table: TableShape, query: RowQuery): Statement {
      const { values, add } = parameters()
      const rows = `${source(table, query, add, '1', leadingOf(table, query))}${bounds(query, add)}`
      return { sql: `SELECT count(*) FROM (${rows}) AS counted`, values, hasOwnPlan: isFurther(query), reads: table.name }
    },

    /** Changes nothing when a key is taken: no error that would end a transaction. */
    insert(table: TableShape, row: AnyRow): Statement {
      const { insert, write } = preparedOf(table)
      return { sql: insert, values: write(row), writes: table.name }
    },

    update: (table: TableShape, id: string, patch: AnyRow, guard: AnyRow): Statement =>
      change(table, id, patch, guard, (_name, parameter) => parameter),

    increment: (table: TableShape, id: string, by: AnyRow, guard: AnyRow): Statement =>
      change(table, id, by, guard, (name, parameter) => `${quoted(name)} + ${parameter}`),

    lock(table: TableShape, id: string, strength: LockStrength): Statement {
      const reading = get(table, id)
      const { get: plain, lock } = preparedOf(table)
      // Where one transaction writes at a time a lock is a look.
      if (lock[strength] === plain) return reading
      // The same text each time, so that its name is found by it directly.
      const locking = reading.sql === plain ? lock[strength] : `${reading.sql}${dialect.lock(strength)}`
      return { sql: locking, values: reading.values }
    },

    /** What has to be sent before such a lock. */
    gate(table: TableShape, id: string, strength: LockStrength): Statement | undefined {
      const sql = dialect.gate?.(table.name, strength)
      return sql === undefined ? undefined : { sql, values: [id] }
    },

    remove(table: TableShape, id: string, guard: AnyRow): Statement {
      const { values, add } = parameters()
      const where = clause([...conditions(table, { id }, add), ...conditions(table, guard, add)])
      return { sql: `DELETE FROM ${dialect.table(table.name)}${where} RETURNING ${columnsOf(table)}`, values, writes: table.name }
    },

    append: (records: readonly OutboxRecord[]): Statement => ({
      sql: append,
      values: [recordsText(records)],
      writes: 'outbox',
    }),
  }
}
