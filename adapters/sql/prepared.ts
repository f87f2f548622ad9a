/** The parts of a table that are made once: the texts of its usual statements, and what reads and writes its rows. */
import type { LockStrength } from '../../lib/storage/contract.ts'
import { type Dialect, quoted, type SqlValue } from './dialect.ts'
import type { ByIds, ManyRows } from './statement.ts'
import { type AnyRow, rowReader, rowWriter, type TableShape } from './values.ts'

/** The parts that are made once for a table. */
interface Prepared {
  /** The columns in their order, as a list for SELECT and RETURNING. */
  readonly list: string
  readonly get: string
  readonly getByIds: ByIds
  readonly lock: Readonly<Record<LockStrength, string>>
  readonly insert: string
  /** Inserts below a parent, by its name and the columns of the guard. */
  readonly below: Map<string, Below>
  /** Queries by their shape. */
  readonly finds: Map<string, string>
  read(values: readonly unknown[]): AnyRow
  write(row: AnyRow): SqlValue[]
  /** The place of the id among the columns. */
  readonly place: number
}

/** The texts of an insert below a parent. */
interface Below {
  readonly sql: string
  readonly skipLocked: string
  readonly manyRows?: ManyRows
}

/** @returns finds what is prepared for a table, and makes it at the first use */
export function preparedFor(dialect: Dialect) {
  // By the table, not by its name: a host may have tables of other versions side by side.
  const known = new WeakMap<TableShape, Prepared>()

  function preparedOf(table: TableShape): Prepared {
    const made = known.get(table)
    if (made) return made
    const list = Object.keys(table.columns).map(quoted).join(', ')
    const name = dialect.table(table.name)
    const places = Object.keys(table.columns).map((_, place) => dialect.parameter(place + 1))
    const get = `SELECT ${list} FROM ${name} WHERE "id" = ${dialect.parameter(1)}`
    const place = Object.keys(table.columns).indexOf('id')
    const prepared = {
      list,
      get,
      lock: { share: get + dialect.lock('share'), update: get + dialect.lock('update') },
      getByIds: {
        sql: `SELECT ${list} FROM ${name} WHERE ${dialect.among('"id"', 'id', dialect.parameter(1))}`,
        place,
      },
      insert: `INSERT INTO ${name} (${list}) VALUES (${places.join(', ')}) ON CONFLICT DO NOTHING`,
      below: new Map<string, Below>(),
      finds: new Map<string, string>(),
      read: rowReader(dialect, table.columns),
      write: rowWriter(dialect, table),
      place,
    }
    known.set(table, prepared)
    return prepared
  }

  /** The text of an insert if a parent with these values is there. Its parameters are those of the row, then of the values. */
  function belowOf(parent: TableShape, names: readonly string[], table: TableShape): Below {
    const { below, list } = preparedOf(table)
    const shape = `${parent.name} ${names}`
    const known = below.get(shape)
    if (known) return known
    const columns = Object.keys(table.columns)
    const given = columns.map((_, place) => dialect.parameter(place + 1))
    const values = names.map((name, place) => `${quoted(name)} = ${dialect.parameter(columns.length + place + 1)}`)
    const rows = `SELECT ${given.join(', ')} FROM ${dialect.table(parent.name)} WHERE ${values.join(' AND ')}${dialect.lock('share')}`
    const into = `INSERT INTO ${dialect.table(table.name)} (${list})`
    const manyRows = manyRowsBelow(parent, names, table)
    const made = {
      sql: `${into} ${rows} ON CONFLICT DO NOTHING`,
      skipLocked: `${into} ${rows} SKIP LOCKED ON CONFLICT DO NOTHING`,
      ...(manyRows === undefined ? {} : { manyRows }),
    }
    below.set(shape, made)
    return made
  }

  /** The same for several rows, as `Statement.manyRows`. */
  function manyRowsBelow(parent: TableShape, names: readonly string[], table: TableShape): ManyRows | undefined {
    const columns = Object.entries(table.columns).map(([name, { type }]) => ({ name, type }))
    // No column has a dot in its name, and one may be called `parent_id`.
    const wanted = names.map((name) => ({ name: `parent.${name}`, type: parent.columns[name]?.type ?? 'text' }))
    const given = dialect.rowsOf?.([...columns, ...wanted])
    if (given === undefined) return undefined
    const { list, place } = preparedOf(table)
    const values = columns.map(({ name }) => `given.${quoted(name)}`).join(', ')
    const same = names.map((name) => `${quoted(name)} = given.${quoted(`parent.${name}`)}`).join(' AND ')
    const locked = `SELECT 1 FROM ${dialect.table(parent.name)} WHERE ${same}${dialect.lock('share')} SKIP LOCKED`
    const sql =
      `INSERT INTO ${dialect.table(table.name)} (${list}) SELECT ${values} FROM ${given.sql} AS given ` +
      `CROSS JOIN LATERAL (${locked}) AS parent ON CONFLICT DO NOTHING RETURNING "id"`
    return { sql, place, lists: given.lists }
  }

  return { preparedOf, belowOf }
}
