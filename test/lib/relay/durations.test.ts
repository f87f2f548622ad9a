import { expect, test } from 'vitest'
import { durationAt, durationBounds } from '../../../lib/relay/durations.ts'

const counts = (given: Readonly<Record<number, number>>) => [...durationBounds, Infinity].map((bound) => given[bound] ?? 0)

test('a part of attempts is at most as slow as the bucket says that they are in', () => {
  const day = counts({ 10: 90, 250: 9, [Infinity]: 1 })
  expect([0.5, 0.9, 0.95, 0.99, 1].map((part) => durationAt(day, 31_000, part))).toEqual([6, 10, 183, 250, 31_000])
})

test('no duration is above the slowest one, or below the bucket of it', () => {
  expect(durationAt(counts({ 100: 4 }), 61, 1)).toBe(61)
  expect(durationAt(counts({ 100: 4 }), 61, 0.5)).toBe(56)
  expect(durationAt(counts({ [Infinity]: 2 }), 12_000, 0.5)).toBe(11_000)
})

test('nothing that was counted has no duration', () => {
  expect(durationAt(counts({}), 0, 0.5)).toBeUndefined()
})
