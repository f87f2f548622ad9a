/** Decisions of people about an endpoint: sending starts over, or ends. */
import { nextVersion, type Plan, type RelayDatabase, row } from '../database.ts'

/**
 * Resets an endpoint; the relay that sends to it is notified.
 * @param enable lifts also that the relay disabled it
 */
export const resetEndpoint = (database: RelayDatabase, ref: number, enable: boolean): Plan<void> =>
  define(database, ref, `fresh_starts = fresh_starts + 1${enable ? ', disabled = NULL' : ''}`, [])

/** Sends nothing more to an endpoint, until `resetEndpoint` enables it or its definition changes. A reason that is there stays. */
export const disable = (database: RelayDatabase, ref: number, reason: string): Plan<void> =>
  define(database, ref, 'disabled = coalesce(disabled, ?3)', [reason])

function* define(database: RelayDatabase, ref: number, change: string, values: readonly string[]): Plan<void> {
  const version = yield* nextVersion()
  const sql = `UPDATE $schema.endpoints SET ${change}, defined = ?2 WHERE ref = ?1 AND removed_at IS NULL`
  yield* row(sql, [ref, version, ...values])
  yield* database.touch([ref], version)
}
