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
    'on the first Thursday of the month',
    { frequency: 'monthly', by_days: ['TH'], by_month_days: [1, 2, 3, 4, 5, 6, 7] },
    4,
    ['2026-10-20T16:00', '2026-11-05T17:00', '2026-12-03T17:00', '2027-01-07T17:00'],
  ],
  [
    'on the last Friday of the month',
    { frequency: 'monthly', by_days: ['FR'], by_month_days: [-7, -6, -5, -4, -3, -2, -1] },
    4,
    ['2026-10-20T16:00', '2026-10-30T17:00', '2026-11-27T17:00', '2026-12-25T17:00'],
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

test('a rule that never comes round is distinguished from one that ends', () => {
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

test.each([
  ['a rule that comes round every seven years', { frequency: 'monthly', interval: 12, by_days: ['MO'], by_month_days: [31] }],
  ['a yearly one', { frequency: 'yearly', interval: 7 }],
  ['a daily one', { frequency: 'daily', interval: 1_000 }],
  ['one with an end in a far year', { frequency: 'weekly', interval: 500, until: '9999-12-31T00:00:00.000Z' }],
  ['one with a count', { frequency: 'yearly', count: 10_000 }],
] as const)('no occurrence begins more than 100 years after the first one: %s', (_, rule) => {
  for (const starts_at of ['0001-01-31T15:00:00.000Z', '2026-01-31T15:00:00.000Z', '9000-01-31T15:00:00.000Z']) {
    const series = { ...weekly, starts_at, time_zone: 'America/New_York', ...rule }
    const starts = recurrence().expand(series, { to: '9999-12-31T00:00:00.000Z', limit: 10_000 }) ?? []
    const span = Number(starts.at(-1)?.slice(0, 4)) - Number(starts_at.slice(0, 4))
    expect([starts.length > 5, span > 80 && span <= 100]).toEqual([true, true])
  }
})

test('a series near the end of the calendar ends with the year 9999', () => {
  const last = { ...weekly, frequency: 'daily', starts_at: '9999-12-30T16:00:00.000Z' } as const
  expect(short(recurrence().expand(last, { limit: 10 }))).toEqual(['9999-12-30T16:00', '9999-12-31T16:00'])
})

test('a rule whose next date is more than 100 years away counts as one that never comes round, unless it ends before', () => {
  const rare = { ...weekly, frequency: 'yearly', interval: 101 } as const
  expect(recurrence().expand(rare, { limit: 2 })).toBeUndefined()
  expect(recurrence().expand({ ...rare, until: '2030-01-01T00:00:00.000Z' }, { limit: 2 })).toEqual([weekly.starts_at])
  expect(recurrence().expand({ ...weekly, frequency: 'daily', interval: 7, by_days: ['MO'] }, { limit: 2 })).toBeUndefined()
})

test('days of the month that are rare are found day by day too', () => {
  const mondays = { ...weekly, frequency: 'daily', by_days: ['MO'], by_month_days: [31] } as const
  expect(short(recurrence().expand(mondays, { limit: 3 }))).toEqual(['2026-10-20T16:00', '2027-05-31T16:00', '2028-01-31T17:00'])
  const ends = { ...weekly, frequency: 'daily', interval: 2, by_month_days: [-1] } as const
  expect(short(recurrence().expand(ends, { limit: 3 }))).toEqual(['2026-10-20T16:00', '2026-12-31T17:00', '2027-03-31T16:00'])
})

test('ten thousand occurrences are found at a time that the clocks leave out once a year', () => {
  const skipped = { ...weekly, frequency: 'daily', count: 10_000, starts_at: '2026-03-28T01:30:00.000Z' } as const
  const starts = recurrence().expand(skipped, { limit: 10_000 })
  expect([starts?.length, starts?.at(-1)?.slice(0, 10)]).toEqual([10_000, '2053-09-09'])
})

test('a start at a time that comes twice keeps to the second one, which it names', () => {
  const second = { ...weekly, frequency: 'daily', starts_at: '2026-10-25T01:30:00.000Z' } as const
  expect(short(recurrence().expand(second, { limit: 2 }))).toEqual(['2026-10-25T01:30', '2026-10-26T01:30'])
})
