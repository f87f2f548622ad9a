import { postgresRateLimits, rateLimits } from '../../../adapters/rate-limits/index.ts'
import { isPostgresAddress, postgresAddress } from '../../../adapters/sql/postgres/address.ts'
import type { RateLimiter } from '../../../lib/index.ts'

/**
 * Rate limits for the storage of a command line. They are in PostgreSQL if that has the storage, where machines share
 * it, and otherwise in memory: each process counts for itself.
 *
 * @param address a storage address that `openStorage` has taken
 * @param warn called when the counts cannot be shared, and when they can again
 * @throws StorageError when the counts cannot be opened
 */
export async function openRateLimits(address: string, warn: (sentence: string) => void): Promise<RateLimiter> {
  if (isPostgresAddress(address)) return postgresRateLimits({ ...postgresAddress(address), warn })
  return rateLimits()
}
