import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { isApiError } from '../../lib/errors.ts'
import {
  atMost,
  BoolInput,
  BoolQuery,
  Colour,
  DateInput,
  defaultTextLimits,
  Email,
  HttpUrl,
  IdInput,
  integerBetween,
  LongText,
  listOf,
  oneOf,
  optional,
  optionalOrNull,
  request,
  type Schema,
  ShortText,
  TimestampInput,
  TimeZone,
  Title,
  ZonedTimestampInput,
} from '../../lib/fields.ts'
import { parseInput } from '../../lib/kernel/check.ts'

/** The value that a request makes of a field, or the sentence with which it refuses it. */
const read = (field: Schema, value: unknown, limits = defaultTextLimits): unknown => {
  try {
    return { ok: (parseInput(request('Test', { field }), { field: value }, limits) as { field: unknown }).field }
  } catch (error) {
    if (!isApiError(error)) throw error
    return { status: error.status, ...error.body }
  }
}

interface Pairs {
  readonly field: Schema
  /** The input, and the output where it is not the same. */
  readonly good: readonly (readonly [unknown] | readonly [unknown, unknown])[]
  readonly bad: readonly unknown[]
  /** The sentence for a refused value. */
  readonly says: string
}

const surrogates = ['\ud800', 'a\udfffb']
const notTexts = [1, true, [], {}, ['x']]
const wellFormed = 'must be well-formed Unicode without NUL'
const moment = 'must be a date and time in ISO 8601'

const fields: Readonly<Record<string, Pairs>> = {
  ShortText: {
    field: ShortText,
    good: [
      [''],
      [' ', ''],
      [' a\n', 'a'],
      [`${'a'.repeat(255)} `, 'a'.repeat(255)],
      ['a'.repeat(255)],
      ['Zoë 👩‍🌾'],
      ['<b>"\\'],
      ['\u202eשלום'],
    ],
    bad: notTexts,
    says: 'must be a text',
  },
  'ShortText, broken Unicode': { field: ShortText, good: [['\u{1f331}']], bad: [...surrogates, 'a\0b'], says: wellFormed },
  'ShortText, lines': {
    field: ShortText,
    good: [['a\u00a0b'], ['\u200e']],
    bad: ['a\r\nBcc: b', 'a\nb', 'a\tb', '\u0001', '\u007f', '\u0085', 'a\u2028b', 'a\u2029b'],
    says: 'must be one line, without control characters',
  },
  'Title, lines': {
    field: Title,
    good: [['a b']],
    bad: ['a\r\nb', 'a\u0085b'],
    says: 'must be one line, without control characters',
  },
  'Title, nothing to be seen': {
    field: Title,
    good: [['\u200ba'], ['❤️']],
    bad: ['\u200b', '\u200d\ufeff', '\u2060\u00ad', '\u3164', '\u2800', '\u202e \u202c', '\ufe0f'],
    says: "can't be blank",
  },
  'LongText, lines': { field: LongText, good: [['a\r\n\tb\n']], bad: ['a\0b'], says: wellFormed },
  'ShortText, length': { field: ShortText, good: [], bad: ['a'.repeat(256)], says: 'must have at most 255 characters' },
  LongText: { field: LongText, good: [['a'.repeat(100_000)]], bad: notTexts, says: 'must be a text' },
  'LongText, length': { field: LongText, good: [], bad: ['a'.repeat(100_001)], says: 'must have at most 100000 characters' },
  Title: {
    field: Title,
    good: [['a'], [' a ', 'a'], ['a b\r\n', 'a b']],
    bad: ['', ' ', '\t\n\u00a0\u2003'],
    says: "can't be blank",
  },
  Colour: {
    field: Colour,
    good: [['#FF5733'], ['#00aaBB']],
    bad: ['FF5733', '#FFF', '#GG0000', '#FF57333', ' #FF5733', '#FF5733\n', 'red', '', ...notTexts],
    says: 'must be a colour like #FF5733',
  },
  Email: {
    field: Email,
    good: [['a@b.co'], ['first.last+tag@sub.example.org'], ["o'hara@example.org"], ['ADA@EXAMPLE.ORG'], [' a@b.co\n', 'a@b.co']],
    bad: ['', 'a', 'a@', '@b.co', 'a b@c.de', 'a@b@c.de', 'a@b..co', 'a\0@b.co', '\ud800@b.co', ...notTexts],
    says: 'must be an e-mail address',
  },
  'Email, length': {
    field: Email,
    good: [],
    bad: [`${'a'.repeat(64)}@${`${'b'.repeat(60)}.`.repeat(4)}org`],
    says: 'must be an e-mail address of at most 254 characters',
  },
  HttpUrl: {
    field: HttpUrl,
    good: [
      ['https://example.org'],
      ['http://localhost:3000/a?b=c#d'],
      ['https://exämple.org/ä'],
      ['\thttps://example.org ', 'https://example.org'],
    ],
    bad: ['', 'example.org', '/a', 'javascript:alert(1)', 'data:text/plain,x', 'ftp://example.org', 'https://', ...notTexts],
    says: 'must be an http or https URL',
  },
  'HttpUrl, lines': {
    field: HttpUrl,
    good: [['https://example.org/my picture.png']],
    bad: ['https://example.org/\r\nSet-Cookie: a=b', 'https://example.org/\u2028x'],
    says: 'must be one line, without control characters',
  },
  DateInput: {
    field: DateInput,
    good: [['2026-11-20'], ['2024-02-29'], ['0001-01-01']],
    bad: ['2026-02-29', '2026-02-30', '2026-13-01', '2026-1-1', '20261120', '2026-11-20T10:00:00Z', '', 'today', ...notTexts],
    says: 'must be a date like 2026-11-20',
  },
  TimeZone: {
    field: TimeZone,
    good: [
      ['Europe/Berlin'],
      ['europe/BERLIN', 'Europe/Berlin'],
      ['UTC'],
      ['utc', 'UTC'],
      ['Etc/UTC'],
      ['GB'],
      ['Asia/Calcutta'],
      ['Asia/Kolkata'],
      ['Europe/Kyiv'],
      ['US/Eastern'],
      ['America/Argentina/Buenos_Aires'],
      ['America/Port_of_Spain'],
      ['Etc/GMT+1'],
      ['etc/gmt+1', 'Etc/GMT+1'],
    ],
    bad: ['', '+01:00', 'Europe/Atlantis', 'Berlin', '../etc/passwd', ' UTC', ...notTexts],
    says: 'must be an IANA time zone like Europe/Berlin',
  },
  IdInput: {
    field: IdInput,
    good: [['1'], [1, '1'], ['007'], ['0'], ['18446744073709551615'], [Number.MAX_SAFE_INTEGER, '9007199254740991']],
    bad: ['', ' 1', '1 ', '-1', '+1', '1.0', '1e3', '0x1', 'abc', '١', -1, 1.5, 1e21, true, [], [1], {}, '1'.repeat(21)],
    says: 'must be an id',
  },
  BoolInput: {
    field: BoolInput,
    good: [[true], [false]],
    bad: ['true', '', 0, 1, [], {}],
    says: 'must be true or false',
  },
  BoolQuery: {
    field: BoolQuery,
    good: [
      ['true', true],
      ['false', false],
      ['True', true],
      ['FALSE', false],
      ['1', true],
      ['0', false],
      ['', false],
      [true],
      [false],
    ],
    bad: ['yes', 'tru', ' true', 1, 0, [], {}],
    says: 'must be true or false',
  },
  integerBetween: {
    field: integerBetween(1, 99),
    good: [[1], [99], [50]],
    bad: [0, 100, 1.5, -1, '5', Number.MAX_VALUE, true, [], {}],
    says: 'must be a whole number from 1 to 99',
  },
  oneOf: {
    field: oneOf('host', 'moderator'),
    good: [['host'], ['moderator']],
    bad: ['', 'Host', 'hosts', 'constructor', '__proto__', 0, true, [], ['host'], {}],
    says: 'must be one of host, moderator',
  },
  TimestampInput: {
    field: TimestampInput,
    good: [
      ['2026-11-20T10:00:00.000Z'],
      ['2026-11-20T10:00:00Z', '2026-11-20T10:00:00.000Z'],
      ['2026-11-20T10:00:00+00:00', '2026-11-20T10:00:00.000Z'],
      ['2026-11-20T10:00:00.5-05:30', '2026-11-20T15:30:00.500Z'],
      ['2024-02-29T23:59:59+14:00', '2024-02-29T09:59:59.000Z'],
      ['2026-11-20T10:00Z', '2026-11-20T10:00:00.000Z'],
    ],
    bad: ['', '2026-11-20', 'yesterday', '10:00', '1763632800', 'x'.repeat(50), ...notTexts],
    says: moment,
  },
  'TimestampInput, without an offset': {
    field: TimestampInput,
    good: [],
    bad: ['2026-11-20T10:00:00', '2026-11-20 10:00', '2026-11-20T10:00:00.123'],
    says: 'must have an offset, such as 2026-11-20T10:00:00Z or 2026-11-20T10:00:00+01:00',
  },
  ZonedTimestampInput: {
    field: ZonedTimestampInput,
    good: [
      ['2026-11-20T10:00:00+01:00', '2026-11-20T09:00:00.000Z'],
      ['2026-11-20T10:00:00', '2026-11-20T10:00:00.000'],
      ['2026-11-20T10:00', '2026-11-20T10:00:00.000'],
    ],
    bad: ['', '2026-11-20', 'tomorrow', ...notTexts],
    says: moment,
  },
  'TimestampInput, days that there are not': {
    field: TimestampInput,
    good: [],
    bad: [
      '2026-02-29T10:00:00Z',
      '2026-02-29T10:00:00',
      '2026-02-30T10:00:00+01:00',
      '2026-04-31T10:00:00Z',
      '9999-12-31T23:30:00-05:00',
      '2025-02-29T23:30:00-05:00',
    ],
    says: 'must be a date and time that exists',
  },
  listOf: { field: listOf(Title), good: [[[]], [['a', 'b']]], bad: ['a', {}, 1, true], says: 'must be a list' },
}

describe.each(Object.entries(fields))('%s', (_, { field, good, bad, says }) => {
  test.each(good.map((pair) => ({ given: pair[0], taken: pair.length === 2 ? pair[1] : pair[0] })))(
    'takes $given',
    ({ given, taken }) => {
      expect(read(field, given)).toEqual({ ok: taken })
    },
  )
  test.each(bad.map((given) => ({ given })))('refuses $given', ({ given }) => {
    expect(read(field, given)).toEqual({ status: 422, error: `field ${says}` })
  })
  test('is required as it stands', () => {
    expect(read(field, undefined)).toMatchObject({ status: 422 })
    expect(read(field, null)).toMatchObject({ status: 422 })
  })
})

test('a missing field is reported as required, by its name', () => {
  const body = request('Test', { title: Title, email: Email })
  expect(() => parseInput(body, {}, defaultTextLimits)).toThrow('title is required; email is required')
})

test('an optional field may be left out, and null counts as left out', () => {
  expect(read(optional(Title), undefined)).toEqual({ ok: undefined })
  expect(read(optional(Title), null)).toEqual({ ok: undefined })
  expect(read(optional(Title), 'x')).toEqual({ ok: 'x' })
  expect(read(optional(Title), '')).toMatchObject({ status: 422 })
})

test('a optionalOrNull field may be left out, and null or an empty text clears it', () => {
  expect(read(optionalOrNull(LongText), undefined)).toEqual({ ok: undefined })
  expect(read(optionalOrNull(LongText), null)).toEqual({ ok: null })
  for (const field of [LongText, ShortText, Colour, HttpUrl, IdInput, TimestampInput, BoolInput]) {
    expect(read(optionalOrNull(field), '')).toEqual({ ok: null })
    expect(read(optionalOrNull(field), ' \n')).toEqual({ ok: null })
    expect(read(optionalOrNull(field), 'x'.repeat(200_000))).toMatchObject({ status: 422 })
  }
})

test("a community's limits count instead of the defaults", () => {
  const limits = { ...defaultTextLimits, titleCharacters: 3, longTextCharacters: 5, choices: 2 }
  expect(read(Title, 'abc', limits)).toEqual({ ok: 'abc' })
  expect(read(Title, 'abcd', limits)).toEqual({ status: 422, error: 'field must have at most 3 characters' })
  expect(read(LongText, 'abcdef', limits)).toEqual({ status: 422, error: 'field must have at most 5 characters' })
  const choices = v.pipe(listOf(Title), atMost<string[]>('choices', 'choices'))
  expect(read(choices, ['a', 'b', 'c'], limits)).toEqual({ status: 422, error: 'field must have at most 2 choices' })
})

test('characters are code points, as in JSON Schema', () => {
  const emoji = (count: number) => '🌱'.repeat(count)
  expect(read(Title, emoji(255))).toEqual({ ok: emoji(255) })
  expect(read(Title, `${emoji(254)}ab`)).toEqual({ status: 422, error: 'field must have at most 255 characters' })
  expect(read(Title, emoji(256))).toEqual({ status: 422, error: 'field must have at most 255 characters' })
  expect(read(HttpUrl, `https://example.org/${emoji(2028)}`)).toHaveProperty('ok')
  expect(read(HttpUrl, `https://example.org/${emoji(2029)}`)).toMatchObject({ status: 422 })
})

test('an item of a list is named by its place', () => {
  expect(read(listOf(Title), ['a', '', 7])).toEqual({ status: 422, error: "field.1 can't be blank; field.2 must be a text" })
})

test('at most five problems are listed, and how many more there are', () => {
  expect(read(listOf(BoolInput), Array(8).fill('x'))).toEqual({
    status: 422,
    error: `${[0, 1, 2, 3, 4].map((place) => `field.${place} must be true or false`).join('; ')}; and more`,
  })
})

test('no field takes long to refuse what is long', () => {
  const long = [
    `${'a'.repeat(50_000)}@`,
    `${'a.'.repeat(50_000)}`,
    `#${'f'.repeat(100_000)}`,
    '1'.repeat(100_000),
    `${' '.repeat(100_000)}x`,
  ]
  for (const { field } of Object.values(fields)) for (const text of long) read(field, text)
})
