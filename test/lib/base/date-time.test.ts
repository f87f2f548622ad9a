import { expect, test } from 'vitest'
import { readMoment, utcOf } from '../../../lib/base/date-time.ts'

test.each([
  ['winter', '2026-12-01T18:00:00.000', 'Europe/Berlin', '2026-12-01T17:00:00.000Z'],
  ['summer', '2026-07-01T18:00:00.250', 'Europe/Berlin', '2026-07-01T16:00:00.250Z'],
  ['UTC', '2026-07-01T18:00:00.000', 'UTC', '2026-07-01T18:00:00.000Z'],
  ['half an hour', '2026-07-01T18:00:00.000', 'Asia/Kolkata', '2026-07-01T12:30:00.000Z'],
  ['a time that is left out is counted on from before', '2026-03-29T02:30:00.000', 'Europe/Berlin', '2026-03-29T01:30:00.000Z'],
  ['a time that comes twice is the first one', '2026-10-25T02:30:00.000', 'Europe/Berlin', '2026-10-25T00:30:00.000Z'],
  ['just before the gap', '2026-03-29T01:59:59.999', 'Europe/Berlin', '2026-03-29T00:59:59.999Z'],
  ['just after the gap', '2026-03-29T03:00:00.000', 'Europe/Berlin', '2026-03-29T01:00:00.000Z'],
  ['west of Greenwich, left out', '2026-03-08T02:30:00.000', 'America/New_York', '2026-03-08T07:30:00.000Z'],
  ['west of Greenwich, twice', '2026-11-01T01:30:00.000', 'America/New_York', '2026-11-01T05:30:00.000Z'],
  ['half an hour of summer time, left out', '2026-10-04T02:15:00.000', 'Australia/Lord_Howe', '2026-10-03T15:45:00.000Z'],
  ['a day that was left out', '2011-12-30T12:00:00.000', 'Pacific/Apia', '2011-12-30T22:00:00.000Z'],
  ['before 1970', '1950-01-01T00:00:00.500', 'Europe/Berlin', '1949-12-31T23:00:00.500Z'],
])('the clocks of a time zone: %s', (_what, local, zone, utc) => {
  expect(utcOf(local, zone)).toBe(utc)
})

test.each(['0000-01-01T00:00:00.000', '9999-12-31T23:59:59.999'])('%s is in no year of four digits everywhere', (local) => {
  for (const zone of ['Pacific/Kiritimati', 'America/New_York']) expect(utcOf(local, zone) ?? '').toMatch(/^(?:\d{4}-.*Z)?$/)
})

test.each([
  ['2026-11-20T10:00', { local: '2026-11-20T10:00:00.000', offset: undefined }],
  ['2026-11-20 10:00:00', { local: '2026-11-20T10:00:00.000', offset: undefined }],
  ['2026-11-20T10:00:00.123456789Z', { local: '2026-11-20T10:00:00.123', offset: 'Z' }],
  ['2026-11-20t10:00z', { local: '2026-11-20T10:00:00.000', offset: 'Z' }],
  ['2026-11-20T10:00:00+0130', { local: '2026-11-20T10:00:00.000', offset: '+01:30' }],
  ['2026-11-20T10:00:00-05', { local: '2026-11-20T10:00:00.000', offset: '-05:00' }],
  ['2026-11-20T10:00:00 01:00', { local: '2026-11-20T10:00:00.000', offset: '+01:00' }],
  ['2026-11-20T24:00:00Z', undefined],
  ['2026-11-20', undefined],
  ['2026-11-20T10', undefined],
  ['2026-11-20T10:00:00+24:00', undefined],
  ['2026-11-20T10:00:00Z\n', undefined],
])('%j is read as %j', (text, moment) => {
  expect(readMoment(text)).toEqual(moment)
})
