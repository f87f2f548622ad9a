/** SQL as PostgreSQL speaks it. Everything of ours stands in a schema of its own, beside the host's tables. */
import type { Dialect } from '../dialect.ts'
import { quoted } from '../dialect.ts'

export const defaultSchema = 'folkmoot'

/** Types of the elements of a list. */
const elements = {
  id: 'bigint',
  integer: 'bigint',
  real: 'double precision',
  boolean: 'boolean',
  text: 'text',
  timestamp: 'text',
  json: 'text',
} as const

/** @param schema where the tables are; letters, digits and underscores */
export function postgresDialect(schema: string): Dialect {
  if (!/^[a-z_][a-z0-9_]{0,50}$/.test(schema))
    throw new TypeError(`option \`schema\` must be lower-case letters, digits and underscores, got ${JSON.stringify(schema)}`)
  return {
    table: (name) => `${quoted(schema)}.${quoted(name)}`,
    indexName: (name) => name,
    parameter: (place) => `$${place}`,
    oneOf: (column, type, values, add) => `${column} = ANY(${add(values)}::${elements[type]}[])`,
    types: {
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
    tableSuffix: '',
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
    lock: (strength) => (strength === 'share' ? ' FOR SHARE' : ' FOR UPDATE'),
    bound: (parameter) => parameter,
    noLimit: '',
    ownTables: {
      meta: `CREATE TABLE "${schema}"."meta" ("name" text PRIMARY KEY, "value" text NOT NULL)`,
      outbox: `CREATE TABLE "${schema}"."outbox" ("seq" bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "appended_at" timestamptz NOT NULL DEFAULT now(), "records" json NOT NULL)`,
      // Worth nothing after a minute, so nothing of it is logged or synced; room in each page keeps updates inside of it.
      rate_limits: `CREATE UNLOGGED TABLE "${schema}"."rate_limits" ("key" text COLLATE "C" PRIMARY KEY, "used" integer NOT NULL, "ends_at" timestamptz NOT NULL) WITH (fillfactor = 50)`,
    },
  }
}
