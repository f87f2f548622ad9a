/**
 * Endpoints in the tables of the stores. Each attribute of `lib/outbox/endpoint-attributes.ts` has a column of its name. Only the replaced
 * credentials share the column `old`, and `old_until` is the end of the last of them.
 */
import { attributeDefaults, attributes, type StoredAttributes } from '../../../../lib/outbox/endpoint-attributes.ts'
import type { EndpointUpsert } from '../../../../lib/outbox/record.ts'
import { unsupportedCapabilities } from '../../../../lib/outbox/requires.ts'
import { orders } from '../../../../lib/outbox/values.ts'
import { columnsOf } from '../../../../lib/storage/columns-of.ts'
import type { ColumnType } from '../../../../lib/storage/table.ts'
import type { Endpoint, UnsupportedDefinition } from './relay-endpoint.ts'

export type SqlRow = Readonly<Record<string, unknown>>
type SqlValue = string | number | boolean | null

const { old_keys: _keys, old_secrets: _secrets, ...columns } = columnsOf(attributes, attributeDefaults)

export const attributeColumns = Object.entries(columns).map(([name, { type, nullable }]) => ({
  name: name as keyof typeof columns,
  type,
  nullable,
}))

const quoted = (name: string): string => (name === 'order' ? '"order"' : name)

/** The values that an upsert of the outbox writes. */
export const recordedColumns: readonly string[] = [
  ...['network_id', 'id'],
  ...attributeColumns.map(({ name }) => quoted(name)),
  ...['old', 'old_until', 'requires', 'set_aside'],
]

/** The assignments of an upsert to an endpoint that is there. */
export const recordedAssignments = recordedColumns
  .slice(2)
  .map((column) => `${column} = excluded.${column}`)
  .join(', ')

/** By their names: a prepared `SELECT *` of PostgreSQL fails as soon as a later version has added a column. */
export const endpointColumns = ['ref', ...recordedColumns, 'disabled', 'removed_at', 'state', 'defined', 'fresh_starts'].join(
  ', ',
)

/**
 * The values of a record for `recordedColumns`, in their order.
 * @param now the relay's timeline
 */
export function recordedValues(record: EndpointUpsert, now: number): readonly SqlValue[] {
  const { old_keys = [], old_secrets = [], requires = [] } = record
  const unsupported: UnsupportedDefinition | null = unsupportedCapabilities(requires).length > 0 ? { since: now, record } : null
  const ends = [...old_keys, ...old_secrets].map(({ until }) => Date.parse(until))
  return [
    ...[record.network_id, record.id],
    ...attributeColumns.map(({ name, type }) => writtenValue(type, record[name] ?? null)),
    ...(ends.length > 0 ? [JSON.stringify({ old_keys, old_secrets }), Math.max(...ends)] : [null, null]),
    ...[requires.length > 0 ? JSON.stringify(requires) : null, unsupported && JSON.stringify(unsupported)],
  ]
}

const writtenValue = (type: ColumnType, value: unknown): SqlValue =>
  type === 'json' && value !== null ? JSON.stringify(value) : (value as SqlValue)

/** SQLite gives values as they are and 1 for true, PostgreSQL everything as text. */
function readValue(type: ColumnType, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (type === 'json') return JSON.parse(String(value))
  if (type === 'boolean') return value === 1 || value === 't'
  return type === 'text' ? String(value) : Number(value)
}

/** A value that this store has written as JSON. */
const parsedOr = <T>(value: unknown, none: T): T => (value == null ? none : (JSON.parse(String(value)) as T))

export function endpointOf(row: SqlRow): Endpoint {
  const read = attributeColumns.map(({ name, type }) => [name, readValue(type, row[name])])
  // Each value was written by `recordedValues`, from a record that was checked.
  const stored = Object.fromEntries(read) as Omit<StoredAttributes, 'old_keys' | 'old_secrets'>
  const old = row['old'] == null ? {} : (JSON.parse(String(row['old'])) as Partial<Endpoint>)
  return {
    ...stored,
    order: orders.find((order) => order === stored.order) ?? 'none',
    old_keys: old.old_keys ?? [],
    old_secrets: old.old_secrets ?? [],
    requires: parsedOr<readonly string[]>(row['requires'], []),
    set_aside: parsedOr<UnsupportedDefinition | null>(row['set_aside'], null),
    ref: Number(row['ref']),
    id: String(row['id']),
    network_id: String(row['network_id']),
    disabled: row['disabled'] == null ? null : String(row['disabled']),
    fresh_starts: Number(row['fresh_starts']),
  }
}
