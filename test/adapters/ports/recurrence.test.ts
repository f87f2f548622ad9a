import { expect, test } from 'vitest'
import { recurrence } from '../../../adapters/ports/recurrence.ts'
import type { Series } from '../../../lib/ports.ts'

const weekly: Series = {
  frequency: 'weekly',
  interval: 1,
  by_days: [],
  by_month_days: [],
  count: null,
  until: null,
  starts_at: '2026-10-20T16:00:00.000Z',
  time_zone: 'Europe/Berlin',
}
const short = (starts: readonly string[] | undefined) => starts?.map((start) => start.replace(':00.000Z', ''))

test.each([
  ['weekly over the end of summer time', {}, 3, ['2026-10-20T16:00', '2026-10-27T17:00', '2026-11-03T17:00']],
  ['every other week', { interval: 2 }, 3, ['2026-10-20T16:00', '2026-11-03T17:00', '2026-11-17T17:00']],
  ['on several days', { by_days: ['MO', 'FR'] }, 3, ['2026-10-20T16:00', '2026-10-23T16:00', '2026-10-26T17:00']],
  ['as often as it says', { count: 2 }, 9, ['2026-10-20T16:00', '2026-10-27T17:00']],
  ['until a time that is included', { until: '2026-10-27T17:00:00.000Z' }, 9, ['2026-10-20T16:00', '2026-10-27T17:00']],
  ['daily', { frequency: 'daily' }, 2, ['2026-10-20T16:00', '2026-10-21T16:00']],
  ['monthly', { frequency: 'monthly' }, 3, ['2026-10-20T16:00', '2026-11-20T17:00', '2026-12-20T17:00']],
  [
    'on the last day of the month',
    { frequency: 'monthly', by_month_days: [-1] },
    4,
    ['2026-10-20T16:00', '2026-10-31T17:00', '2026-11-30T17:00', '2026-12-31T17:00'],
  ],
  [
    'on the 31st, where a month has one',
    { frequency: 'monthly', starts_at: '2026-10-31T17:00:00.000Z' },
    3,
    ['2026-10-31T17:00', '2026-12-31T17:00', '2027-01-31T17:00'],
  ],
  [
    'on the 29th of February',
    { frequency: 'yearly', starts_at: '2024-02-29T11:00:00.000Z' },
    3,
    ['2024-02-29T11:00', '2028-02-29T11:00', '2032-02-29T11:00'],
  ],
  [
    'in New York over the end of summer time there',
    { frequency: 'daily', time_zone: 'America/New_York', starts_at: '2026-10-31T13:00:00.000Z' },
    3,
    ['2026-10-31T13:00', '2026-11-01T14:00', '2026-11-02T14:00'],
  ],
  [
    'at a time that the clocks leave out, which does not take place that day',
    { frequency: 'daily', starts_at: '2026-03-28T01:30:00.000Z' },
    3,
    ['2026-03-28T01:30', '2026-03-30T00:30', '2026-03-31T00:30'],
  ],
  [
    'at a time that comes twice, of which the first one counts',
    { frequency: 'daily', starts_at: '2026-10-24T00:30:00.000Z' },
    3,
    ['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30'],
  ],
] as const)('%s', (_, rule, limit, starts) => {
  expect(short(recurrence().expand({ ...weekly, ...rule }, { limit }))).toEqual(starts)
})

test('nothing begins after the end of the window', () => {
  const window = { to: '2026-10-27T17:00:00.000Z', limit: 100 }
  expect(short(recurrence().expand(weekly, window))).toEqual(['2026-10-20T16:00', '2026-10-27T17:00'])
  expect(recurrence().expand(weekly, { ...window, to: '2026-10-20T15:59:59.999Z' })).toEqual([])
})

test('a long look goes as far as its limit, and the next one costs nothing new', () => {
  const port = recurrence()
  const daily = { ...weekly, frequency: 'daily' } as const
  const far = port.expand(daily, { to: '9999-01-01T00:00:00.000Z', limit: 1_500 })
  expect([far?.length, far?.at(-1)]).toEqual([1_500, '2030-11-27T17:00:00.000Z'])
  expect(port.expand(daily, { limit: 2 })).toEqual(far?.slice(0, 2))
})

test('a rule that never comes round is told apart from one that ends', () => {
  const never = {
    ...weekly,
    frequency: 'monthly',
    interval: 12,
    by_month_days: [31],
    starts_at: '2026-02-01T11:00:00.000Z',
  } as const
  expect(recurrence().expand(never, { limit: 2 })).toBeUndefined()
  expect(recurrence().expand({ ...weekly, count: 1 }, { limit: 2 })).toEqual([weekly.starts_at])
})
