/**
 * `folkmoot/rate-limits`: counting requests. In memory where one process serves; in the database of the storage where several do,
 * so that they have one count.
 */
import '../node-version.ts'

export { type RateLimitOptions, rateLimits } from './flexible.ts'
export { type PostgresRateLimitOptions, postgresRateLimits } from './postgres.ts'
export type { SharedRateLimits } from './shared.ts'
export { type SqliteRateLimitOptions, sqliteRateLimits } from './sqlite.ts'
