import { postgresRateLimits, rateLimits, sqliteRateLimits } from '../../adapters/rate-limits/index.ts'
import { isPostgresAddress, postgresAddress } from '../../adapters/sql/postgres/address.ts'
import type { RateLimiter } from '../../lib/index.ts'

/**
 * Rate limits for the storage that a command line names: in its database where other processes may serve as well, in memory
 * where there is only this one.
 *
 * @param address a storage address that `openStorage` has taken
 * @param warn is told when the counts cannot be shared, and when they can again
 * @throws StorageError when the counts cannot be opened
 */
export async function openRateLimits(address: string, warn: (sentence: string) => void): Promise<RateLimiter> {
  const path = /^sqlite:(.+)$/s.exec(address)?.[1]
  if (path !== undefined) return sqliteRateLimits({ path, warn })
  if (isPostgresAddress(address)) return postgresRateLimits({ ...postgresAddress(address), warn })
  return rateLimits()
}
