import { postgresRateLimits, rateLimits, sqliteRateLimits } from '../../../adapters/rate-limits/index.ts'
import { isPostgresAddress, postgresAddress } from '../../../adapters/sql/postgres/address.ts'
import type { RateLimiter } from '../../../lib/index.ts'

/**
 * Rate limits for the storage of a command line. They are in its database if other processes may serve as well, and in memory
 * for a single process.
 *
 * @param address a storage address that `openStorage` has taken
 * @param warn called when the counts cannot be shared, and when they can again
 * @throws StorageError when the counts cannot be opened
 */
export async function openRateLimits(address: string, warn: (sentence: string) => void): Promise<RateLimiter> {
  const path = /^sqlite:(.+)$/s.exec(address)?.[1]
  if (path !== undefined) return sqliteRateLimits({ path, warn })
  if (isPostgresAddress(address)) return postgresRateLimits({ ...postgresAddress(address), warn })
  return rateLimits()
}
