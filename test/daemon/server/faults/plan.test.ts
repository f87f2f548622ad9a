import { expect, test } from 'vitest'
import { describePlan, type FaultFlags, lotsOf, planOf } from '../../../../daemon/server/faults/plan.ts'

const flags: FaultFlags = { fault: ['429:0.1', '500:0.01', 'drop:0.05'], latency: '50-200', seed: '7' }

function lots(count: number, given: FaultFlags = flags) {
  const plan = planOf(given)
  if (!plan) throw new Error('there is no plan')
  const draw = lotsOf(plan)
  return Array.from({ length: count }, draw)
}

test('equal seeds give equal lots, and another seed others', () => {
  expect(lots(500)).toEqual(lots(500))
  expect(lots(500, { ...flags, seed: '8' })).not.toEqual(lots(500))
})

test('latency does not move the faults of a seed', () => {
  const kinds = (given: FaultFlags) => lots(500, given).map(({ kind }) => kind)
  expect(kinds({ ...flags, latency: undefined })).toEqual(kinds(flags))
})

test('faults are as frequent as their probability, and latency lies between its bounds', () => {
  const drawn = lots(20_000)
  const shareOf = (kind: string | undefined) => drawn.filter((lot) => lot.kind === kind).length / drawn.length
  expect(shareOf('429')).toBeCloseTo(0.1, 1)
  expect(shareOf('500')).toBeCloseTo(0.01, 2)
  expect(shareOf('drop')).toBeCloseTo(0.05, 1)
  const latencies = drawn.map(({ latency }) => latency)
  expect([Math.min(...latencies), Math.max(...latencies)]).toEqual([50, 200])
})

test('a probability of 1 is every request, and 0 none', () => {
  expect(new Set(lots(1000, { fault: ['stall:1'] }).map(({ kind }) => kind))).toEqual(new Set(['stall']))
  expect(new Set(lots(1000, { fault: ['stall:0'] }).map(({ kind }) => kind))).toEqual(new Set([undefined]))
})

test('without a seed one is drawn and named', () => {
  const plan = planOf({ fault: ['429:0.1'] })
  expect(plan && describePlan(plan)).toBe(
    `Faults are on: 429 for 10 %; seed ${plan?.seed}. Give --seed ${plan?.seed} for the same faults again.`,
  )
})

test.each<[Partial<FaultFlags>, string]>([
  [
    { fault: ['418:0.1'] },
    '--fault must be like 429:0.1, a fault and its probability from 0 to 1, got "418:0.1". Faults: 429, 500',
  ],
  [{ fault: ['429'] }, 'got "429"'],
  [{ fault: ['429:2'] }, 'got "429:2"'],
  [{ fault: ['429:-1'] }, 'got "429:-1"'],
  [{ fault: ['429:1e9'] }, 'got "429:1e9"'],
  [{ fault: ['toString:1'] }, 'got "toString:1"'],
  [{ fault: ['429:0.1', '429:0.2'] }, '--fault names 429 twice: give it once, with the whole probability'],
  [{ fault: ['429:0.7', '500:0.7'] }, 'the probabilities of --fault add up to 1.4: they may add up to at most 1'],
  [
    { latency: '200-50' },
    '--latency must be like 50-200 or 100, in milliseconds, the smaller one first and at most 60000, got "200-50"',
  ],
  [{ latency: 'slow' }, 'got "slow"'],
  [{ latency: '60001' }, 'got "60001"'],
  [{ seed: '7' }, '--seed goes with --fault or --latency'],
])('the flags %j are refused with the remedy', (given, sentence) => {
  expect(() => planOf({ fault: [], ...given })).toThrow(sentence)
})

test('sums of tenths are at most 1 although floating point is not exact', () => {
  expect(planOf({ fault: ['429:0.1', '500:0.2', '502:0.3', '503:0.1', '504:0.2', 'drop:0.1'] })?.faults).toHaveLength(6)
})
