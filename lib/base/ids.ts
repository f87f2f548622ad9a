import { type Chance, systemChance } from './chance.ts'
import type { Clock } from './clock.ts'

/** A record id: a decimal string of at most 2^53 − 1. Ids are compared as numbers, never as text. */
export type Id = string

const epoch = Date.UTC(2025, 0, 1)
const perMillisecond = 4096

/** Ids that JSON clients can hold: decimal, no leading zero, at most 2^53 − 1. */
const pattern = /^(?:0|[1-9]\d{0,15})$/

/**
 * Whether a text can be the id of a stored record. Any other uint64 is legal in a request, and at worst a 404.
 */
export function isStorableId(text: string): boolean {
  return pattern.test(text) && Number(text) <= Number.MAX_SAFE_INTEGER
}

/** Compares two ids as numbers: shorter is smaller, and of equal length the text decides. */
export function compareIds(a: Id, b: Id): number {
  if (a.length !== b.length) return a.length - b.length
  return a < b ? -1 : a > b ? 1 : 0
}

/** The lowest id that can be made at a moment: for the lists of a time. @param milliseconds since 1970 */
export const idAt = (milliseconds: number): Id => String(Math.max(0, milliseconds - epoch) * perMillisecond)

/**
 * Makes ids: milliseconds since 2025 × 4,096 plus a counter with a random start. They ascend within a process, stay under 2^53
 * until 2094, and need no coordination. If two processes draw the same number, one gets a unique violation on `id`, and its
 * transaction runs again with a new one.
 */
export function idGenerator(clock: Clock, chance: Chance = systemChance): () => Id {
  let last = 0
  return () => {
    const base = Math.max(0, clock.now() - epoch) * perMillisecond
    // The start need only differ between processes; an id is no secret.
    last = base > last ? base + chance.below(perMillisecond / 2) : last + 1
    return String(last)
  }
}
