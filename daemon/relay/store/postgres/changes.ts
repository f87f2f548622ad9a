/** Reads what other relays changed in the database. */

import { endpointColumns, endpointOf } from '../endpoint/endpoint-row.ts'
import type { Endpoint } from '../endpoint/relay-endpoint.ts'
import { number, numberOrNull, text, textOrNull } from '../rows.ts'
import type { PostgresDatabase } from './database.ts'

export interface SharedState {
  /** The version of the latest change. */
  readonly version: number
  /** Whether there are endpoints without a relay. */
  readonly free: boolean
  /** How many relays there are, and how many of them are near. */
  readonly relays: string
  /** Endpoints of the lease for which something may wait that was not there before. */
  readonly touched: readonly number[]
  /** Those that are defined differently now. */
  readonly redefined: readonly number[]
}

export interface Redefined {
  readonly changed: readonly Endpoint[]
  readonly removed: readonly number[]
}

/** What has changed for a lease after a version, in one round trip: everything that is new waits for this. */
export async function sharedState(database: PostgresDatabase, lease: string, since: number): Promise<SharedState> {
  const [found = {}] = await database.rows(
    `SELECT value AS version, EXISTS (SELECT 1 FROM $schema.leases WHERE relay IS NULL) AS free,
       (SELECT count(*) || '/' || count(*) FILTER (WHERE NOT far) FROM $schema.relays) AS relays,
       (SELECT json_agg(json_build_array(l.endpoint, e.defined > $2)) FROM $schema.leases l JOIN $schema.endpoints e ON e.ref = l.endpoint
        WHERE l.relay = $1 AND l.touched > $2) AS changes
     FROM $schema.meta WHERE name = 'version'`,
    [lease, since],
  )
  const changes = JSON.parse(textOrNull(found, 'changes') ?? '[]') as readonly (readonly [number, boolean])[]
  const refs = (fresh: boolean) => changes.filter(([, isFresh]) => isFresh === fresh).map(([ref]) => ref)
  return {
    version: number(found, 'version'),
    free: found['free'] === 't',
    relays: text(found, 'relays'),
    touched: refs(false),
    redefined: refs(true),
  }
}

export async function definitionsOf(database: PostgresDatabase, refs: readonly number[]): Promise<Redefined> {
  if (refs.length === 0) return { changed: [], removed: [] }
  const rows = await database.rows(`SELECT ${endpointColumns} FROM $schema.endpoints WHERE ref = ANY($1::bigint[])`, [refs])
  return {
    changed: rows.filter((row) => numberOrNull(row, 'removed_at') === null).map(endpointOf),
    removed: rows.filter((row) => numberOrNull(row, 'removed_at') !== null).map((row) => number(row, 'ref')),
  }
}
