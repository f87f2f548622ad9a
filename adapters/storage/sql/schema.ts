/** The tables of the data model, and those next to them, as the schema writer takes them. */
import { crc32 } from '../../../lib/base/crc32.ts'
import { unusual } from '../../sql/clauses.ts'
import { type Dialect, quoted } from '../../sql/dialect.ts'
import type { Schema } from '../../sql/migrations.ts'
import type { SqlIndex, SqlTable } from '../../sql/schema.ts'
import type { TableShape } from '../../sql/values.ts'

/** The longest name that PostgreSQL takes. */
const longestName = 63

/** The name of an index; one that would be cut off ends in a checksum instead. */
function indexName(table: string, columns: readonly string[], kind: 'key' | 'index' | 'unusual_index'): string {
  const name = `${table}_${columns.join('_')}_${kind}`
  // Room for the prefix of a dialect.
  if (name.length <= longestName - 10) return name
  const sum = crc32(new TextEncoder().encode(name)).toString(16).padStart(8, '0')
  return `${name.slice(0, longestName - 19)}_${sum}`
}

/** The unique key that a violated index stands for; `undefined` for an index that is not ours. */
export function keyOfIndex(dialect: Dialect, table: TableShape, name: string): readonly string[] | undefined {
  return table.unique.find((key) => dialect.indexName(indexName(table.name, key, 'key')) === name)
}

/** The indexes of a table, without those that another one serves as well. */
function indexesOf(dialect: Dialect, table: TableShape): SqlIndex[] {
  const neverNull = (key: readonly string[]) => key.every((name) => table.columns[name]?.nullable === false)
  const served = (columns: readonly string[]) =>
    // By the primary key; or by a unique key, under which the id at the end has nothing left to order.
    columns.length === 1 || table.unique.some((key) => neverNull(key) && [...key, 'id'].join() === columns.join())
  const on = (columns: readonly string[]) =>
    columns.map((column) => quoted(column) + (table.columns[column]?.nullable ? dialect.nulls('asc') : '')).join(', ')
  const plain = table.indexes.filter((columns) => !served(columns))
  return [
    ...table.unique.map((columns) => ({ name: indexName(table.name, columns, 'key'), on: on(columns), unique: true })),
    ...plain.map((columns) => {
      const shown = on(dialect.indexesEndInId ? columns.slice(0, -1) : columns)
      const where = columns.flatMap((name) => unusual(table, name) ?? []).join(' AND ')
      if (where === '') return { name: indexName(table.name, columns, 'index'), on: shown }
      return { name: indexName(table.name, columns, 'unusual_index'), on: shown, where }
    }),
  ]
}

const outbox: Readonly<Record<Dialect['engine'], SqlTable>> = {
  sqlite: {
    name: 'outbox',
    columns: {
      // AUTOINCREMENT: a number is never given twice, also when the newest rows are gone.
      seq: 'INTEGER PRIMARY KEY AUTOINCREMENT',
      appended_at: "TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ'))",
      records: { type: 'json' },
    },
  },
  postgres: {
    name: 'outbox',
    columns: { seq: { type: 'identity' }, appended_at: 'timestamptz NOT NULL DEFAULT now()', records: { type: 'json' } },
  },
}

/** Worth nothing after a minute, so nothing of it is logged or synced; room in each page keeps updates inside of it. */
const rateLimits: SqlTable = {
  name: 'rate_limits',
  columns: { key: { type: 'text' }, used: 'integer NOT NULL', ends_at: 'timestamptz NOT NULL' },
  key: ['key'],
  options: { postgres: 'WITH (fillfactor = 50)' },
  unlogged: true,
}

export const storageSchema = (dialect: Dialect, tables: readonly TableShape[]): Schema => ({
  version: 1,
  tables: [
    outbox[dialect.engine],
    ...(dialect.engine === 'postgres' ? [rateLimits] : []),
    ...tables.map((table) => ({
      name: table.name,
      columns: table.columns,
      key: ['id'],
      indexes: indexesOf(dialect, table),
      ...(table.searched ? { searched: table.searched.column } : {}),
    })),
  ],
})
