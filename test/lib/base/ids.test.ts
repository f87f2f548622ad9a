import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareIds, idGenerator, isStorableId } from '../../../lib/base/ids.ts'
import { manualClock } from '../../support/clock.ts'

const largest = 9_007_199_254_740_991n
const at = (milliseconds: number) => idGenerator(manualClock(milliseconds))

test('ids are decimal texts that JSON clients can hold as numbers', () => {
  const newId = at(Date.UTC(2026, 10, 20))
  for (let turn = 0; turn < 1000; turn++) {
    const id = newId()
    expect(isStorableId(id)).toBe(true)
    expect(String(Number(id))).toBe(id)
  }
})

test('ids ascend, however many are made in one millisecond and whichever way the clock goes', () => {
  const clock = manualClock(Date.UTC(2026, 10, 20))
  const newId = idGenerator(clock)
  let last = '0'
  for (let turn = 0; turn < 20_000; turn++) {
    if (turn % 1000 === 0) clock.advance(turn % 3000 === 0 ? -5 : 1)
    const id = newId()
    expect(compareIds(last, id)).toBeLessThan(0)
    last = id
  }
})

test('ids stay below 2^53 for two generations, and above 0 from a clock that is wrong', () => {
  expect(BigInt(at(Date.UTC(2090, 0, 1))())).toBeLessThan(largest)
  expect(isStorableId(at(0)())).toBe(true)
  expect(compareIds(at(Date.UTC(2025, 0, 1, 0, 0, 1))(), at(Date.UTC(2025, 0, 1, 0, 0, 2))())).toBeLessThan(0)
})

test('two generators in one millisecond begin at different places, as a rule', () => {
  const first = Array.from({ length: 200 }, () => at(Date.UTC(2026, 10, 20))())
  expect(new Set(first).size).toBeGreaterThan(150)
})

test('ids compare as numbers', () => {
  const natural = fc.bigInt({ min: 0n, max: largest })
  fc.assert(
    fc.property(natural, natural, (a, b) => {
      expect(Math.sign(compareIds(String(a), String(b)))).toBe(a < b ? -1 : a > b ? 1 : 0)
    }),
  )
  expect(['10', '9', '100', '9'].sort(compareIds)).toEqual(['9', '9', '10', '100'])
})

test.each(['0', '1', '42', '9007199254740990', '9007199254740991'])('%s can be the id of a record', (text) => {
  expect(isStorableId(text)).toBe(true)
})

test.each([
  '',
  ' 1',
  '1 ',
  '01',
  '-1',
  '1.5',
  '1e3',
  '0x1',
  'abc',
  '9007199254740992',
  '18446744073709551615',
  '١',
  '\u0000',
  '1\n',
])('%j cannot be the id of a record', (text) => {
  expect(isStorableId(text)).toBe(false)
})
