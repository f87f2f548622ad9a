/** Rows as the text of JSON records, written by the database. */
import type { JsonFields, JsonSource, ListField } from '../../lib/storage/json.ts'
import type { Dialect, Parameter } from './dialect.ts'
import { literal, quoted } from './dialect.ts'
import type { ColumnShape, TableShape } from './values.ts'

type Add = (value: Parameter) => string

/** The parts of a page of records. */
export interface PageParts {
  readonly dialect: Dialect
  readonly table: TableShape
  readonly fields: JsonFields
  readonly order: { readonly by: string; readonly direction: 'asc' | 'desc' }
  readonly add: Add
  /** The query of its rows, with these columns. */
  rows(columns: string): string
  /** The query of the row behind it, with the condition that it is behind it. A page of all rows has none. */
  next?(condition: string): string
}

/**
 * A query with one row: the records of a page as one JSON text, their number, the last one's place, and whether more follow.
 *
 * @param versions of the rows that the caller has: if they are the same, the text is null. If not, the versions are the fifth value
 */
export function jsonPage({ dialect, table, fields, order, add, rows, next }: PageParts, versions?: string): string {
  // No column has such a name.
  const [record, place, last, version] = ['"~record"', '"~place"', '"~last"', '"~version"']
  const joined = joinedRecords(dialect, record)
  const withPlace = (column: string) => `(${rows(`${column}, ${quoted(order.by)} AS ${place}`)})`
  const counted = `count(*) AS ${place}, ${order.direction === 'asc' ? 'max' : 'min'}(${place}) AS ${last}`
  const more = () =>
    next ? `(${next(`${quoted(order.by)} ${order.direction === 'asc' ? '>' : '<'} ${last}`)}) IS NOT NULL` : 'FALSE'
  const records = () => `${withPlace(`${jsonExpression(dialect, table, fields, add)} AS ${record}`)} AS shown`
  if (versions === undefined)
    return `SELECT ${record}, ${place}, ${last}, ${more()} FROM (SELECT ${joined} AS ${record}, ${counted} FROM ${records()}) AS page`
  const had = add(versions)
  const text = `CASE WHEN ${version} = ${had} THEN NULL ELSE (SELECT ${joined} FROM ${records()}) END`
  const found = `SELECT string_agg(${version}, ',') AS ${version}, ${counted} FROM ${withPlace(`${dialect.rowVersion} AS ${version}`)} AS found`
  return `SELECT ${text}, ${place}, ${last}, ${more()}, NULLIF(${version}, ${had}) FROM (${found}) AS page`
}

/**
 * The expression that writes a record out of a row.
 * @param add takes a parameter and gives its text
 * @throws RangeError for a column that the table does not have
 */
function jsonExpression(dialect: Dialect, table: TableShape, fields: JsonFields, add: Add): string {
  const typed = fields.map(([name, source]) => {
    const column = 'column' in source ? table.columns[source.column] : text
    if (column === undefined) throw new RangeError(`${table.name} has no column for ${name}`)
    return { name, source, column }
  })
  if (dialect.engine === 'sqlite') {
    const values = typed.map(({ name, source, column }) => `${literal(name)}, ${sqliteValue(source, column.type, add)}`)
    return `json_object(${values.join(', ')})`
  }
  // `row_to_json` looks up the type of each value in the catalogue, for each row. `json_build_object` puts spaces between.
  const parts: string[] = []
  let written = '{'
  for (const { name, source, column } of typed) {
    const { before, value, after } = postgresJson(source, column, add)
    written += `${JSON.stringify(name)}:${before}`
    if (value !== undefined) {
      parts.push(literal(written), value)
      written = ''
    }
    written += `${after},`
  }
  return concatenated([...parts, literal(`${written.slice(0, -1)}}`)])
}

const text: ColumnShape = { type: 'text', nullable: true }

/** A function of PostgreSQL takes a hundred values at most. */
const mostValues = 100

/** All parts as one text. `||` would copy the text for each of them. */
function concatenated(parts: readonly string[]): string {
  if (parts.length <= mostValues) return `concat(${parts.join(', ')})`
  return concatenated([concatenated(parts.slice(0, mostValues)), ...parts.slice(mostValues)])
}

/** A value as JSON: what is the same in all rows, and an expression between that is never null. */
interface PostgresJson {
  readonly before: string
  readonly value?: string
  readonly after: string
}

function postgresJson(source: JsonSource, { type, nullable }: ColumnShape, add: Add): PostgresJson {
  if (source.from === 'nothing') return { before: 'null', after: '' }
  // Digits, and the text of a time, have nothing to escape.
  if (source.from === 'column' && !nullable && (type === 'id' || type === 'timestamp'))
    return { before: '"', value: quoted(source.column), after: '"' }
  return { before: '', value: postgresText(source, type, postgresValue(source, type, add)), after: '' }
}

function postgresText({ from }: JsonSource, type: string, value: string): string {
  if (from === 'list') return value
  if (from === 'number' || (from === 'column' && (type === 'integer' || type === 'boolean')))
    return `coalesce(${value}::text, 'null')`
  return from === 'column' && type === 'json' ? `coalesce(${value}, 'null')` : `coalesce(to_json(${value}), 'null')`
}

/** Joins the records of all rows: one value costs far less than a hundred. */
const joinedRecords = (dialect: Dialect, record: string): string =>
  dialect.engine === 'sqlite' ? `CAST(group_concat(${record}, ',') AS BLOB)` : `string_agg(${record}, ',')`

function sqliteValue(source: JsonSource, type: string, add: Add): string {
  if (source.from === 'nothing') return 'NULL'
  if (source.from === 'text') return add(source.text)
  const column = quoted(source.column)
  switch (source.from) {
    case 'number':
      return column
    case 'around':
      return `${add(source.before)} || ${column} || ${add(source.after)}`
    case 'address':
      return `CASE WHEN substr(${column}, 1, 1) = '/' THEN ${add(source.base)} || ${column} ELSE ${column} END`
    case 'choice':
      return `CASE WHEN ${column} THEN ${sqliteValue(source.yes, 'text', add)} ELSE ${sqliteValue(source.no, 'text', add)} END`
    case 'list':
      return `json(CASE coalesce(${column}, '[]') WHEN '[]' THEN '[]' ELSE ${sqliteList(column, source.fields)} END)`
    default:
      if (type === 'id') return `CAST(${column} AS TEXT)`
      if (type === 'boolean') return `json(CASE ${column} WHEN 1 THEN 'true' WHEN 0 THEN 'false' END)`
      return type === 'json' ? `json(${column})` : column
  }
}

function sqliteList(column: string, fields: readonly ListField[]): string {
  const shown = fields.map(({ name, isNumber }) => {
    const value = isNumber ? `CAST(value ->> ${literal(name)} AS INTEGER)` : `value -> ${literal(name)}`
    return `${literal(name)}, ${value}`
  })
  return `(SELECT json_group_array(json_object(${shown.join(', ')})) FROM json_each(${column}))`
}

function postgresValue(source: JsonSource, type: string, add: Add): string {
  if (source.from === 'nothing') return 'NULL::text'
  if (source.from === 'text') return `${add(source.text)}::text`
  const column = quoted(source.column)
  switch (source.from) {
    case 'number':
      return column
    case 'around':
      return `${add(source.before)}::text || ${column}::text || ${add(source.after)}::text`
    case 'address':
      return `CASE WHEN left(${column}, 1) = '/' THEN ${add(source.base)}::text || ${column} ELSE ${column} END`
    case 'choice':
      return `CASE WHEN ${column} THEN ${postgresValue(source.yes, 'text', add)} ELSE ${postgresValue(source.no, 'text', add)} END`
    case 'list':
      return `CASE coalesce(${column}::text, '[]') WHEN '[]' THEN '[]'::json ELSE ${postgresList(column, source.fields)} END`
    default:
      return type === 'id' ? `${column}::text` : column
  }
}

function postgresList(column: string, fields: readonly ListField[]): string {
  const shown = fields.map(({ name, isNumber }) => {
    const value = isNumber ? `(value ->> ${literal(name)})::bigint` : `value -> ${literal(name)}`
    return `${value} AS ${quoted(name)}`
  })
  const item = `(SELECT row_to_json(i) FROM (SELECT ${shown.join(', ')}) AS i)::text`
  // `json_agg` puts a space between two items.
  return `(SELECT ('[' || string_agg(${item}, ',') || ']')::json FROM json_array_elements(${column}) AS value)`
}
