/** SQL as PostgreSQL speaks it. All tables are in a separate schema, next to the host's tables. */
import type { Dialect } from '../dialect.ts'
import { quoted, searchName } from '../dialect.ts'

export const defaultSchema = 'folkmoot'

const elements = {
  id: 'bigint',
  integer: 'bigint',
  real: 'double precision',
  boolean: 'boolean',
  text: 'text',
  timestamp: 'text',
  json: 'text',
} as const

/** Lengths of pages, and one more, with which code finds out whether more rows follow. */
const lengths = [1, 10, 20, 25, 50, 100]
/**
 * Of a parameter PostgreSQL assumes that it takes a tenth of all rows. A plan for its value looks so much better that each
 * statement is planned again, which costs as much as a page. Not every number, because each is another prepared statement.
 */
const writtenLimits: ReadonlySet<number> = new Set(lengths.flatMap((length) => [length, length + 1]))

export interface PostgresDialect extends Dialect {
  /** Where the tables are. */
  readonly schema: string
}

/** @param schema letters, digits and underscores */
export function postgresDialect(schema: string): PostgresDialect {
  if (!/^[a-z_][a-z0-9_]{0,50}$/.test(schema))
    throw new TypeError(`option \`schema\` must be lower-case letters, digits and underscores, got ${JSON.stringify(schema)}`)
  return {
    engine: 'postgres',
    schema,
    table: (name) => `${quoted(schema)}.${quoted(name)}`,
    indexName: (name) => name,
    parameter: (place) => `$${place}`,
    oneOf: (column, type, values, add) => `${column} = ANY(${add(values)}::${elements[type]}[])`,
    among: (column, type, parameter) => `${column} = ANY(${parameter}::${elements[type]}[])`,
    // Not `strpos`: an index of `pg_trgm` knows LIKE alone.
    contains: (column, text, add) => `${column} LIKE ${add(`%${text.replace(/[\\%_]/g, '\\$&')}%`)}`,
    searchIndex: (name, column, trigrams) =>
      trigrams === undefined
        ? []
        : [
            // Without a list of pending entries, which every search would read.
            `CREATE INDEX ${quoted(searchName(name))} ON ${quoted(schema)}.${quoted(name)} USING gin (${quoted(column)} ${quoted(trigrams)}.gin_trgm_ops) WITH (fastupdate = off)`,
          ],
    list: (values) => values,
    types: {
      identity: 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
      id: 'bigint',
      // "C": text orders by its bytes, not by the language of the database.
      text: 'text COLLATE "C"',
      integer: 'bigint',
      real: 'double precision',
      boolean: 'boolean',
      timestamp: 'text COLLATE "C"',
      // Not jsonb, which forgets the order of members and costs several times as much to read.
      json: 'json',
    },
    tableOptions: (given) => (given === undefined ? '' : ` ${given}`),
    nulls: (direction) => (direction === 'asc' ? ' NULLS FIRST' : ' NULLS LAST'),
    indexesEndInId: false,
    jsonText: (column) => `${column}::text`,
    storesText: (text) => text.isWellFormed() && !text.includes('\0'),
    encode(type, value) {
      if (type === 'json') return JSON.stringify(value)
      return value as string | number | boolean
    },
    decoders: {
      integer: Number,
      real: Number,
      boolean: (value) => value === 't',
      json: (value) => JSON.parse(String(value)),
    },
    lock: (strength) => ({ share: ' FOR SHARE', update: ' FOR UPDATE', close: ' FOR UPDATE', use: '' })[strength],
    // No lock of a row: each transaction that writes takes it, and would have to write it into the row. Those who wait for it
    // are served in turn, too, so that a stream of writers can't keep `close` out.
    gate(name, strength) {
      if (strength !== 'use' && strength !== 'close') return undefined
      const call = strength === 'use' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock'
      return `SELECT current_setting('transaction_isolation'), ${call}(hashtext('folkmoot ${schema}.${name}'), hashtext($1))`
    },
    bound: (parameter) => parameter,
    writtenLimits,
    noLimit: '',
    updateOne: 'UPDATE',
    now: 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)',
  }
}
