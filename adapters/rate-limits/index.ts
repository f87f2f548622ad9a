/**
 * `folkmoot/rate-limits`: counting requests. In memory, each process for itself; or in PostgreSQL, where all processes have one count.
 */
import '../node-version.ts'

export { type RateLimitOptions, rateLimits } from './flexible.ts'
export { type PostgresRateLimitOptions, postgresRateLimits, type SharedRateLimits } from './postgres.ts'
