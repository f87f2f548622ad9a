/** Figures of several rounds. */

/** The one in the middle. */
export const middle = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

/** The result of the rounds. */
export interface Spread {
  readonly median: number
  readonly lowest: number
  readonly highest: number
}

export const spreadOf = (numbers: readonly number[]): Spread => ({
  median: middle(numbers),
  lowest: Math.min(...numbers),
  highest: Math.max(...numbers),
})

/** The ratio of two things that were measured back to back, round by round. */
export const ratioOf = (of: readonly number[], to: readonly number[]): Spread =>
  spreadOf(of.flatMap((one, round) => (to[round] ? [one / to[round]] : [])))

export const whole = (value: number): string => Math.round(value).toLocaleString('en')
