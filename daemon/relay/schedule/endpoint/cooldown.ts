/** How long an open circuit waits for its next probe. Pure. */

const longestCooldown = 15 * 60
/**
 * A fresh event waits no longer than this for its probe, in seconds, or than the first cooldown if that is longer. Receivers refuse events
 * that are more than five minutes old, as a rule: a probe after fifteen minutes would never succeed.
 */
const longestFreshCooldown = 4 * 60
/** Nor longer than so many first cooldowns: whoever sets a short one has receivers with short limits. With the default that is the same. */
const freshCooldowns = 8

/** In milliseconds. */
export interface Cooldowns {
  /** After the opening. */
  readonly first: number
  /** Until the next probe, whatever waits. */
  readonly whole: number
  /** Until a fresh event may be a probe. */
  readonly fresh: number
}

/**
 * @param seconds until the first probe; doubles with every failed one, up to 15 minutes or the first one itself if longer
 * @param trips how often the circuit opened in a row
 */
export function cooldowns(seconds: number, trips: number): Cooldowns {
  const whole = Math.max(seconds, Math.min(longestCooldown, seconds * 2 ** Math.max(0, trips - 1)))
  const fresh = Math.min(whole, Math.max(seconds, Math.min(longestFreshCooldown, freshCooldowns * seconds)))
  return { first: seconds * 1000, whole: whole * 1000, fresh: fresh * 1000 }
}
