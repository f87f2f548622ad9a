/** Decisions of people about an endpoint: sending starts over, or ends. */
import { nextVersion, type Plan, type RelayDatabase, row } from '../database.ts'
import { endpointColumns, endpointOf } from '../endpoint/endpoint-row.ts'
import type { Endpoint } from '../endpoint/relay-endpoint.ts'

/**
 * Gives an endpoint a fresh start; the relay that sends to it learns of it.
 * @param enable lifts also that the relay disabled it
 */
export function* startAfresh(database: RelayDatabase, ref: number, enable: boolean): Plan<Endpoint | undefined> {
  const version = yield* nextVersion()
  const found = yield* row(
    `UPDATE $schema.endpoints SET fresh_starts = fresh_starts + 1, defined = ?2${enable ? ', disabled = NULL' : ''}
     WHERE ref = ?1 AND removed_at IS NULL RETURNING ${endpointColumns}`,
    [ref, version],
  )
  yield* database.touch([ref], version)
  return found && endpointOf(found)
}

/** Sends nothing more to an endpoint, until `startAfresh` enables it or its definition changes. A reason that is there stays. */
export function* disable(database: RelayDatabase, ref: number, reason: string): Plan<Endpoint | undefined> {
  const version = yield* nextVersion()
  const found = yield* row(
    `UPDATE $schema.endpoints SET disabled = coalesce(disabled, ?3), defined = ?2 WHERE ref = ?1 AND removed_at IS NULL
     RETURNING ${endpointColumns}`,
    [ref, version, reason],
  )
  yield* database.touch([ref], version)
  return found && endpointOf(found)
}
