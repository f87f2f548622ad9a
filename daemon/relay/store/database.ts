/**
 * The database under a relay's store, SQLite or PostgreSQL.
 *
 * Terms
 * - **Plan**: what is to be done, as a generator: it yields statements, and gets the rows of each. Written once, it runs on both.
 *   SQLite responds synchronously, so a plan is one short transaction in which nothing else happens; PostgreSQL responds after a round trip.
 * - **Statement**: its text names tables `$schema.deliveries` and parameters `?1`.
 * - **Version**: the count of all changes that others have to read, in the order of their commits.
 */
import type { Dialect } from '../../../adapters/sql/dialect.ts'
import type { Addressed } from './endpoint/endpoint-index.ts'
import type { SqlRow } from './endpoint/endpoint-row.ts'
import { number } from './rows.ts'

/** A list is one parameter: see `among` and `given`. */
export type SqlValue = string | number | boolean | null | Uint8Array | readonly (string | number | boolean | null)[]

export interface Statement {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

export type Rows = readonly SqlRow[]
export type Plan<T> = Generator<Statement, T, Rows>

export interface RelayDatabase {
  readonly dialect: Dialect
  /**
   * Runs a plan in one transaction, or undoes it. The plan is made again when PostgreSQL demands that the transaction be repeated.
   * @param durable whether the commit waits for the disk. SQLite's never does: see `sync`.
   */
  transaction<T>(plan: () => Plan<T>, durable?: boolean): Promise<T>
  /** Runs a plan that only reads, without a transaction. */
  read<T>(plan: () => Plan<T>): Promise<T>
  /** Whether a record may be to blame for an error, so that the others are ingested without it. */
  isRecordsFault(error: unknown): boolean
  /**
   * Inserts events that are not there yet, each with a delivery for each receiver.
   * @returns the ids of those that were not there
   */
  insertEvents(events: readonly Addressed[], received_at: number, due: number): Plan<readonly string[]>
  /** Notifies other relays that something waits for these endpoints. The version is held. */
  touch(endpoints: readonly number[], version: number): Plan<void>
  /**
   * Notifies other relays that an endpoint is defined again; if it is new, one of them begins to send to it. The version is
   * held.
   */
  defined(endpoint: number, version: number): Plan<void>
  /** Notifies the sending relay that an endpoint is removed. The version is held. */
  removed(endpoint: number, version: number): Plan<void>
  /** Keeps relays from putting deliveries in order until the transaction ends. */
  holdRelays(): Plan<void>
  close(): Promise<void>
}

/** Runs one statement of a plan. */
export function* rows(sql: string, values: readonly SqlValue[] = []): Plan<Rows> {
  return yield { sql, values }
}

/** Runs one statement of a plan, for its first row. */
export function* row(sql: string, values: readonly SqlValue[] = []): Plan<SqlRow | undefined> {
  const [first] = yield { sql, values }
  return first
}

/** Runs a plan on a database that responds synchronously. */
export function runAtOnce<T>(plan: Plan<T>, execute: (statement: Statement) => Rows): T {
  let step = plan.next()
  while (!step.done) {
    let found: Rows
    try {
      found = execute(step.value)
    } catch (error) {
      step = plan.throw(error)
      continue
    }
    step = plan.next(found)
  }
  return step.value
}

/** Runs a plan on a database that responds later. */
export async function runStepwise<T>(plan: Plan<T>, execute: (statement: Statement) => Promise<Rows>): Promise<T> {
  let step = plan.next()
  while (!step.done) {
    let found: Rows
    try {
      found = await execute(step.value)
    } catch (error) {
      step = plan.throw(error)
      continue
    }
    step = plan.next(found)
  }
  return step.value
}

/** A condition that a number is in a list, which is one parameter. */
export const among = ({ dialect }: Pick<RelayDatabase, 'dialect'>, column: string, parameter: string): string =>
  dialect.among(column, 'integer', parameter)

/**
 * Rows that a statement brings along, as a table in it. They are one parameter: `JSON.stringify` of a list of lists of values.
 * @param columns their names and types, in the order of the values
 */
export function given(
  { dialect: { engine } }: Pick<RelayDatabase, 'dialect'>,
  parameter: string,
  columns: Readonly<Record<string, 'text' | 'bigint'>>,
): string {
  const names = Object.entries(columns)
  if (engine === 'sqlite') {
    const read = names.map(([name], place) => `value ->> ${place} AS ${name}`)
    return `(SELECT ${read.join(', ')} FROM json_each(${parameter}) ORDER BY key)`
  }
  const read = names.map(([name, type], place) => `CAST(value ->> ${place} AS ${type}) AS ${name}`)
  return `(SELECT ${read.join(', ')} FROM json_array_elements(CAST(${parameter} AS json)) WITH ORDINALITY AS list (value, place) ORDER BY place)`
}

/** Holds the version until the transaction ends, and gives the next one. */
export function* nextVersion(): Plan<number> {
  const next = yield* row(`UPDATE $schema.meta SET value = value + 1 WHERE name = 'version' RETURNING value`)
  return number(next ?? {}, 'value')
}

/** The first tables to create; without effect if they exist. */
export function* begin(): Plan<void> {
  yield* rows(`INSERT INTO $schema.meta (name, value) VALUES ('version', 0) ON CONFLICT (name) DO NOTHING`)
}
