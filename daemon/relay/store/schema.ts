/** The tables of a relay's store, in words that a person can query. A new column is a line here, for both engines. */
import type { Dialect } from '../../../adapters/sql/dialect.ts'
import type { Existing, Schema } from '../../../adapters/sql/migrations.ts'
import type { SqlTable } from '../../../adapters/sql/schema.ts'
import { attributeColumns } from './endpoint/endpoint-row.ts'
import { buckets } from './hours.ts'

const text = { type: 'text' } as const
const perhapsText = { type: 'text', nullable: true } as const
const integer = { type: 'integer' } as const
const perhapsInteger = { type: 'integer', nullable: true } as const
const count = { type: 'integer', default: 0 } as const
const identity = { type: 'identity' } as const
/** Numbers that stay small: PostgreSQL has shorter types for them. */
const small = (postgres: 'smallint' | 'integer', rest: string) => ({ sqlite: `INTEGER${rest}`, postgres: `${postgres}${rest}` })
const smallCount = small('integer', ' NOT NULL DEFAULT 0')
const perhapsSmall = small('integer', '')

const autovacuum = { postgres: 'WITH (autovacuum_vacuum_scale_factor = 0.02)' }
/** Room in each page, so that a row that is changed again and again stays in it. */
const roomy = { postgres: 'WITH (fillfactor = 50)' }
const clustered = { sqlite: 'WITHOUT ROWID' }

const meta: SqlTable = {
  name: 'meta',
  columns: { name: text, value: { sqlite: 'ANY', postgres: 'bigint NOT NULL' } },
  key: ['name'],
  options: clustered,
}

/** How far each stream of the outbox is ingested. */
const positions: SqlTable = {
  name: 'positions',
  columns: { stream: text, position: integer },
  key: ['stream'],
  options: clustered,
}

const endpoints: SqlTable = {
  name: 'endpoints',
  columns: {
    ref: identity,
    network_id: text,
    id: text,
    ...Object.fromEntries(
      attributeColumns.map(({ name, type, nullable }) => [name, { type: type === 'json' ? 'text' : type, nullable }]),
    ),
    // Tokens and secrets that were replaced, and when the last of them ends.
    old: perhapsText,
    old_until: perhapsInteger,
    // What a relay must know to send to it; and its record, while this relay does not.
    requires: perhapsText,
    set_aside: perhapsText,
    // Why the relay stopped sending to it.
    disabled: perhapsText,
    removed_at: perhapsInteger,
    // The relay's state of it.
    state: perhapsText,
    // The version of its latest definition.
    defined: count,
    fresh_starts: count,
  },
  constraints: ['UNIQUE (network_id, id)'],
  indexes: [{ name: 'endpoints_defined', on: 'defined' }],
}

const events: SqlTable = {
  name: 'events',
  columns: {
    seq: identity,
    event_id: text,
    network_id: text,
    event_type: text,
    event_timestamp: text,
    received_at: integer,
    body: { sqlite: 'BLOB NOT NULL', postgres: 'text NOT NULL' },
    crc: perhapsInteger,
    subject: perhapsText,
    // The names of the changed fields, between commas.
    changed: perhapsText,
    trace: perhapsText,
  },
  constraints: ['UNIQUE (event_id)'],
  options: autovacuum,
}

const deliveries: SqlTable = {
  name: 'deliveries',
  columns: {
    id: identity,
    event: integer,
    endpoint: integer,
    state: text,
    lane: small('smallint', ' NOT NULL'),
    due: integer,
    attempts: smallCount,
    // Attempts that began, and whose relay died before their result was known.
    interruptions: smallCount,
    // Of the latest attempt.
    at: perhapsInteger,
    milliseconds: perhapsSmall,
    status: perhapsSmall,
    outcome: perhapsText,
    subject: perhapsText,
  },
  indexes: [
    { name: 'deliveries_waiting', on: 'endpoint, lane, due, id', where: `state = 'pending'` },
    { name: 'deliveries_dead', on: 'at', where: `state = 'dead'` },
    { name: 'deliveries_skipped', on: 'at', where: `state = 'skipped'` },
    { name: 'deliveries_event', on: 'event' },
    // Pages of one network or endpoint, the newest first, among millions of others. Every row is in the first one. Its
    // condition keeps it from other statements: without statistics SQLite would prefer it to the index of what waits.
    { name: 'deliveries_endpoint', on: 'endpoint, id', where: 'id > 0' },
    { name: 'deliveries_failed', on: 'endpoint, id', where: `outcome <> 'delivered'` },
    { name: 'deliveries_subject', on: 'endpoint, subject, event', where: `state = 'pending' AND subject IS NOT NULL` },
  ],
  options: autovacuum,
}

const attempts: SqlTable = {
  name: 'attempts',
  columns: {
    delivery: integer,
    number: small('integer', ' NOT NULL'),
    at: integer,
    milliseconds: small('integer', ' NOT NULL'),
    status: perhapsSmall,
    outcome: text,
    answer: perhapsText,
    reason: perhapsText,
    answer_headers: perhapsText,
  },
  key: ['delivery', 'number', 'at'],
  options: clustered,
}

/** How many attempts of an endpoint were made in an hour, counted since 1970, and how long they took. */
const hours: SqlTable = {
  name: 'hours',
  columns: {
    ...{ endpoint: integer, hour: integer, delivered: smallCount, failed: smallCount, slowest: smallCount },
    ...Object.fromEntries(buckets.map((name) => [name, smallCount])),
  },
  key: ['endpoint', 'hour'],
  indexes: [{ name: 'hours_hour', on: 'hour' }],
  options: { ...clustered, ...roomy },
}

const about = { network_id: perhapsText, endpoint_id: perhapsText, event_id: perhapsText }

const notices: SqlTable = { name: 'notices', columns: { seq: identity, at: integer, kind: text, ...about, text } }

/** Unusable parts of the outbox, for inspection by a person. */
const quarantine: SqlTable = {
  name: 'set_aside',
  columns: { seq: identity, at: integer, reason: text, ...about, content: text },
}

/** People who are to be erased: the events that may name them, and how far those were looked at. */
const erasures: SqlTable = {
  name: 'erasures',
  columns: {
    seq: identity,
    network_id: text,
    // A list of ids, as JSON.
    ids: text,
    up_to: integer,
    walked: integer,
    // The first event that names one of them and still waits.
    first_waiting: perhapsInteger,
    due: integer,
  },
}

/** Each row is the lease of a relay. */
const relays: SqlTable = {
  name: 'relays',
  columns: {
    id: text,
    host: text,
    process: 'json NOT NULL',
    started_at: 'timestamptz NOT NULL DEFAULT clock_timestamp()',
    expires_at: 'timestamptz NOT NULL',
    in_flight: `bigint[] NOT NULL DEFAULT '{}'`,
    // Whether responses reach it so late that its endpoints are better off elsewhere.
    far: 'boolean NOT NULL DEFAULT false',
  },
  key: ['id'],
  options: roomy,
}

/** Which relay sends to which endpoint. */
const leases: SqlTable = {
  name: 'leases',
  columns: { endpoint: integer, relay: perhapsText, touched: integer },
  key: ['endpoint'],
  indexes: [{ name: 'leases_free', on: 'endpoint', where: 'relay IS NULL' }],
  options: roomy,
}

const shared = [meta, endpoints, events, deliveries, attempts, hours, notices, quarantine, erasures]

/** The migration of a store of an earlier version. */
export const remedy = 'start the relay first, which migrates them'

/** The schema of a relay's store; relays that share a database have leases, a single relay has positions. */
export const schemaOf = ({ engine }: Dialect): Schema => ({
  version: 6,
  tables: [...shared, ...(engine === 'postgres' ? [relays, leases] : [positions])],
  // Earlier versions of both stores added columns, tables and indexes alone; those are found missing and made.
  steps: { 6: renamed },
})

function renamed({ tables }: Existing, { engine, table }: Dialect): readonly string[] {
  const rename = (name: string, from: string, to: string) =>
    tables.get(name)?.has(from) ? [`ALTER TABLE ${table(name)} RENAME COLUMN ${from} TO ${to}`] : []
  return [
    ...rename('events', 'taken', 'received_at'),
    ...rename('deliveries', 'starts', 'interruptions'),
    ...(engine === 'postgres' ? [`ALTER TABLE ${table('endpoints')} ALTER COLUMN defined SET DEFAULT 0`] : []),
  ]
}
