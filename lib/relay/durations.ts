/** How long attempts took, counted in fixed buckets: for the relay's store, its metrics, and the panel. */

/** The upper bounds of the buckets, in milliseconds. One more bucket has what took longer. */
export const durationBounds = [10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000] as const

/**
 * The duration in milliseconds that a part of the attempts did not exceed, as exactly as its bucket is narrow.
 * @param counts of each bucket
 * @param slowest the longest one, in milliseconds
 * @param part from 0 to 1: 0.5 for the median
 * @returns undefined if nothing was counted
 */
export function durationAt(counts: readonly number[], slowest: number, part: number): number | undefined {
  const all = counts.reduce((sum, count) => sum + count, 0)
  let left = part * all
  for (const [place, count] of counts.entries()) {
    if (count > 0 && left <= count) {
      const from = Math.min(durationBounds[place - 1] ?? 0, slowest)
      const to = Math.min(durationBounds[place] ?? slowest, slowest)
      return Math.round(from + ((to - from) * left) / count)
    }
    left -= count
  }
  return undefined
}
