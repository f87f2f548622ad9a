/** Fills new columns that follow from others, in the rows that are there. */
import { type Dialect, quoted, type SqlValue } from './dialect.ts'
import { isDdl, type SqlColumn, type SqlTable } from './schema.ts'
import { rowReader } from './values.ts'

/** Runs a statement with parameters. @returns the values of its rows */
export type Query = (sql: string, values: readonly SqlValue[]) => Promise<readonly (readonly unknown[])[]>

/** Rows that are read and written together. */
const batch = 200

/**
 * Fills the derived columns that a table has not had.
 * @param had the columns that it had
 */
export async function fillDerived(dialect: Dialect, query: Query, table: SqlTable, had: ReadonlySet<string>): Promise<void> {
  const columns = Object.entries(table.columns).flatMap(([name, column]) => (isDdl(column) ? [] : [[name, column] as const]))
  const fresh = columns.flatMap(([name, { derived }]) => (derived && !had.has(name) ? [{ name, derived }] : []))
  if (fresh.length === 0) return
  const sources = new Set(['id', ...fresh.flatMap(({ derived }) => derived.from)])
  const shape = Object.fromEntries(columns.filter(([name]) => sources.has(name)).map(([name, column]) => [name, whole(column)]))
  const read = rowReader(dialect, shape)
  const from = `SELECT ${Object.keys(shape).map(quoted).join(', ')} FROM ${dialect.table(table.name)}`
  const some = `${from} WHERE "id" > ${dialect.parameter(1)} ORDER BY "id" LIMIT ${batch}`
  for (let after = '0'; ; ) {
    const rows = (await query(some, [after])).map(read)
    const ids = rows.map((row) => String(row['id']))
    const last = ids.at(-1)
    if (last === undefined) return
    const places = ids.map((_, place) => dialect.parameter(place + 1))
    const values: SqlValue[] = [...ids]
    const sets = fresh.map(({ name, derived }) => {
      const cases = rows.map(
        (row, place) => `WHEN ${places[place]} THEN ${dialect.parameter(values.push(String(derived.of(row))))}`,
      )
      return `${quoted(name)} = CASE "id" ${cases.join(' ')} END`
    })
    await query(`UPDATE ${dialect.table(table.name)} SET ${sets.join(', ')} WHERE "id" IN (${places.join(', ')})`, values)
    after = last
  }
}

const whole = ({ type, nullable = false }: SqlColumn) => ({ type: type === 'identity' ? ('id' as const) : type, nullable })
