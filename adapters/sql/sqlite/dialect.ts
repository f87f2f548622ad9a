/** SQL as SQLite speaks it. Every table of ours begins with `folkmoot_`, so that a host's own stand beside them in one file. */
import type { Dialect } from '../dialect.ts'
import { quoted } from '../dialect.ts'

export const tablePrefix = 'folkmoot_'

export const sqliteDialect: Dialect = {
  table: (name) => quoted(tablePrefix + name),
  indexName: (name) => tablePrefix + name,
  parameter: () => '?',
  oneOf(column, _type, values, add) {
    // Lists are filled up with their last value to the next power of two, so that there are few different statements.
    const size = 2 ** Math.ceil(Math.log2(values.length))
    const places = Array.from({ length: size }, (_, place) => add(values[Math.min(place, values.length - 1)] ?? null))
    return `${column} IN (${places.join(', ')})`
  },
  types: { id: 'INTEGER', text: 'TEXT', integer: 'INTEGER', real: 'REAL', boolean: 'INTEGER', timestamp: 'TEXT', json: 'TEXT' },
  tableSuffix: ' STRICT',
  nulls: () => '',
  indexesEndInId: true,
  jsonText: (column) => column,
  // A text goes in as UTF-8, which has no half surrogate pairs; a zero character is kept.
  storesText: (text) => text.isWellFormed(),
  encode(type, value) {
    if (type === 'json') return JSON.stringify(value)
    if (type === 'boolean') return value === true ? 1 : 0
    // Ids are bound as text and become integers by the type of their column.
    return value as string | number
  },
  decoders: {
    // node:sqlite throws rather than round an integer over 2^53 − 1, so no digit of an id is ever lost.
    id: String,
    boolean: (value) => value === 1,
    json: (value) => JSON.parse(String(value)),
  },
  lock: () => '',
  // A bare parameter there is looked at while the statement is planned: with each new value it would be planned anew.
  bound: (parameter) => `${parameter} + 0`,
  noLimit: ' LIMIT -1',
  ownTables: {
    meta: `CREATE TABLE "${tablePrefix}meta" ("name" TEXT PRIMARY KEY, "value" TEXT NOT NULL) STRICT`,
    // AUTOINCREMENT: a number is never given twice, also when the newest rows are gone.
    outbox: `CREATE TABLE "${tablePrefix}outbox" ("seq" INTEGER PRIMARY KEY AUTOINCREMENT, "appended_at" TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ')), "records" TEXT NOT NULL) STRICT`,
  },
}
