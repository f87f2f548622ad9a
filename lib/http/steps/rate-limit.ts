import { accessError } from '../../errors.ts'
import type { Limits } from '../../limits.ts'
import type { RateLimiter } from '../../settings.ts'
import type { NetworkRow } from '../../storage/tables/administration.ts'

/**
 * Counts a request against the limit of the network's plan (interface.md, 8.1).
 * @param headers gets `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset`
 * @returns nothing to wait for, where there is no limit
 * @throws ApiError 429 with `Retry-After` in whole seconds
 */
export function limitRate(
  limiter: RateLimiter | undefined,
  key: string,
  network: Pick<NetworkRow, 'service_plan'>,
  limits: Pick<Limits, 'perMinute'>,
  headers: Record<string, string>,
): Promise<void> | undefined {
  const perMinute = limits.perMinute[network.service_plan]
  return limiter && perMinute !== null ? countRequest(limiter, key, perMinute, headers) : undefined
}

async function countRequest(
  limiter: RateLimiter,
  key: string,
  perMinute: number,
  headers: Record<string, string>,
): Promise<void> {
  const count = await limiter.count(key, perMinute)
  const reset = String(Math.max(1, Math.ceil(count.resetSeconds)))
  headers['ratelimit-limit'] = String(perMinute)
  headers['ratelimit-remaining'] = String(count.remaining)
  headers['ratelimit-reset'] = reset
  if (count.allowed) return
  throw accessError(429, 'rate limit exceeded', `More than ${perMinute} requests in a minute. Wait ${reset} seconds.`, {
    'retry-after': reset,
  })
}
