/** SQL as SQLite speaks it. */
import type { Dialect } from '../dialect.ts'
import { quoted, searchName } from '../dialect.ts'
import { hasFts5, readsZeros } from './old-node.ts'
import { textIndex, trigramsOf } from './text-index.ts'

export interface SqliteDialect extends Dialect {
  readonly prefix: string
}

/** @param prefix every name in the database begins with it, so that other tables can share the file */
export const sqliteDialectOf = (prefix: string): SqliteDialect => ({
  engine: 'sqlite',
  prefix,
  table: (name) => quoted(prefix + name),
  indexName: (name) => prefix + name,
  parameter: (place) => `?${place}`,
  oneOf(column, _type, values, add) {
    // Lists are filled up with their last value to the next power of two, so that there are few different statements.
    const size = 2 ** Math.ceil(Math.log2(values.length))
    const places = Array.from({ length: size }, (_, place) => add(values[Math.min(place, values.length - 1)] ?? null))
    return `${column} IN (${places.join(', ')})`
  },
  among: (column, _type, parameter) => `${column} IN (SELECT value FROM json_each(${parameter}))`,
  contains: (column, text, add) => `instr(${column}, ${add(text)}) > 0`,
  matching(index, parts, add) {
    const trigrams = trigramsOf(parts)
    if (trigrams.length === 0 || !hasFts5()) return undefined
    const all = trigrams.map((trigram) => `"${trigram.replaceAll('"', '""')}"`).join(' AND ')
    return `${quoted(prefix + index)} MATCH ${add(all)}`
  },
  searchIndex: (name, column) => (hasFts5() ? textIndex(prefix + name, quoted(prefix + searchName(name)), quoted(column)) : []),
  list: (values) => JSON.stringify(values),
  types: {
    identity: 'INTEGER PRIMARY KEY',
    id: 'INTEGER',
    text: 'TEXT',
    integer: 'INTEGER',
    real: 'REAL',
    boolean: 'INTEGER',
    timestamp: 'TEXT',
    json: 'TEXT',
  },
  tableOptions: (given) => (given === undefined ? ' STRICT' : ` STRICT, ${given}`),
  nulls: () => '',
  indexesEndInId: true,
  jsonText: (column) => column,
  // A text goes in as UTF-8, which has no half surrogate pairs; a zero character is kept, and an older Node does not read it.
  storesText: (text) => text.isWellFormed() && (readsZeros() || !text.includes('\0')),
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
  // SQLite inspects a bare parameter there while it plans: with each new value it would plan the statement again.
  bound: (parameter) => `${parameter} + 0`,
  writtenLimits: new Set(),
  noLimit: ' LIMIT -1',
  // Or SQLite keeps an undo log of each statement, and walks that of the whole savepoint at its end: the time of n updates grew with
  // the square of n. One row fails before it changes, so nothing of the statement is left either way.
  updateOne: 'UPDATE OR FAIL',
  now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
})

/** The storage's: a host's own tables may be in the same file. */
export const sqliteDialect = sqliteDialectOf('folkmoot_')
