/** Reads what other relays changed in the database. */

import { endpointColumns, endpointOf } from '../endpoint/endpoint-row.ts'
import type { Endpoint } from '../endpoint/relay-endpoint.ts'
import { number, numberOrNull } from '../rows.ts'
import type { PostgresDatabase } from './database.ts'

export interface SharedState {
  /** The version of the latest change. */
  readonly version: number
  /** Whether there are endpoints that are nobody's. */
  readonly free: boolean
  /** How many relays there are. */
  readonly relays: number
}

export interface Changes {
  /** Endpoints for which something waits that may not have been there. */
  readonly touched: readonly number[]
  /** Endpoints that are defined differently now. */
  readonly changed: readonly Endpoint[]
  readonly removed: readonly number[]
}

export async function sharedState(database: PostgresDatabase): Promise<SharedState> {
  const [found = {}] = await database.rows(
    `SELECT value AS version, EXISTS (SELECT 1 FROM $schema.leases WHERE relay IS NULL) AS free,
       (SELECT count(*) FROM $schema.relays) AS relays
     FROM $schema.meta WHERE name = 'version'`,
  )
  return { version: number(found, 'version'), free: found['free'] === 't', relays: number(found, 'relays') }
}

/**
 * Changes of the endpoints of a lease after a version.
 * @param lease its id
 */
export async function changesSince(database: PostgresDatabase, lease: string, version: number): Promise<Changes> {
  const rows = await database.rows(
    `SELECT l.endpoint, e.defined > $2 AS fresh FROM $schema.leases l JOIN $schema.endpoints e ON e.ref = l.endpoint
     WHERE l.relay = $1 AND l.touched > $2`,
    [lease, version],
  )
  const refs = (fresh: string) => rows.filter((row) => row['fresh'] === fresh).map((row) => number(row, 'endpoint'))
  const defined =
    refs('t').length === 0
      ? []
      : await database.rows(`SELECT ${endpointColumns} FROM $schema.endpoints WHERE ref = ANY($1::bigint[])`, [refs('t')])
  return {
    touched: refs('f'),
    changed: defined.filter((row) => numberOrNull(row, 'removed_at') === null).map(endpointOf),
    removed: defined.filter((row) => numberOrNull(row, 'removed_at') !== null).map((row) => number(row, 'ref')),
  }
}
