import type { IRateLimiterOptions, RateLimiterAbstract } from 'rate-limiter-flexible'
// Its main file loads the limiters of every store.
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'
import RateLimiterRes from 'rate-limiter-flexible/lib/RateLimiterRes.js'
import * as v from 'valibot'
import type { RateLimiter } from '../../lib/index.ts'
import { callable, checkOptions, type RulesOf } from '../options.ts'

/** Where the counts are kept. */
export interface RateLimitOptions {
  /**
   * Makes a limiter of the package `rate-limiter-flexible`, such as `(options) => new RateLimiterPostgres({ ...options,
   * storeClient })`. Many processes then share one count. By default each process counts alone, in memory.
   */
  readonly limiter?: (options: Pick<IRateLimiterOptions, 'points' | 'duration' | 'keyPrefix'>) => RateLimiterAbstract
}

type MakeLimiter = NonNullable<RateLimitOptions['limiter']>
const inMemory: MakeLimiter = (options) => new RateLimiterMemory(options)

const rules = { limiter: v.optional(callable<MakeLimiter>(), () => inMemory) } satisfies RulesOf<RateLimitOptions>

/** Seconds of a count. */
const minute = 60

/**
 * Counts requests per API key and minute (interface.md, 8.1), with the package `rate-limiter-flexible`.
 * @param options where the counts are kept
 * @returns a limiter whose `count` rejects with the errors of the store
 * @throws TypeError that lists every option that is malformed or unknown
 */
export function rateLimits(options: RateLimitOptions = {}): RateLimiter {
  const { limiter } = checkOptions('rateLimits', rules, options, '{ limiter }')
  const byLimit = new Map<number, RateLimiterAbstract>()
  const limiterOf = (perMinute: number): RateLimiterAbstract => {
    const made = byLimit.get(perMinute) ?? limiter({ points: perMinute, duration: minute, keyPrefix: `folkmoot-${perMinute}` })
    byLimit.set(perMinute, made)
    return made
  }
  return {
    async count(key, perMinute) {
      const count = await limiterOf(perMinute)
        .consume(key)
        .then(
          (result) => ({ allowed: true, result }),
          (reason: unknown) => {
            // A refusal comes as a rejection with the count; anything else is a fault of the store.
            if (reason instanceof RateLimiterRes) return { allowed: false, result: reason }
            throw reason
          },
        )
      return {
        allowed: count.allowed,
        remaining: Math.max(0, count.result.remainingPoints),
        resetSeconds: count.result.msBeforeNext / 1000,
      }
    },
  }
}
