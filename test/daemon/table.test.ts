import { describe, expect, test } from 'vitest'
import { errorLine, jsonLines, usageLine } from '../../daemon/json.ts'
import { type Column, relativeTime, table, time, widthOf } from '../../daemon/table.ts'

interface Thing {
  readonly id: string
  readonly name: string
  readonly at: string | null
  readonly error: string
}

const now = Date.parse('2026-11-21T10:00:00.000Z')
const thing = (change: Partial<Thing> = {}): Thing => ({ id: '7', name: 'a name', at: null, error: 'none', ...change })
const columns: readonly Column<Thing>[] = [
  { title: 'id', cell: ({ id }) => id, fits: 'whole' },
  { title: 'name', cell: ({ name }) => name },
  { title: 'at', cell: ({ at }) => time(at) },
  { title: 'error', cell: ({ error }) => error, fits: 'wrap' },
  { title: 'more', cell: ({ name }) => name, shown: 'spare', fits: 'whole' },
  { title: 'all', cell: ({ id }) => `all of ${id}`, shown: 'wide' },
]
const shown = (rows: readonly Thing[], wide = false) => table(columns, rows, { now, wide, empty: 'There is nothing.' })
const linesOf = (text: string) => text.trimEnd().split('\n')

describe('a table', () => {
  test('has one line for the heading and one for each row', () => {
    expect(linesOf(shown([thing(), thing({ id: '8', at: '2026-11-21T09:59:48.000Z' })]))).toEqual([
      'id  name    at        error  more',
      '7   a name  –         none   a name',
      '8   a name  12 s ago  none   a name',
    ])
  })

  test('shows a sentence when there is nothing in it', () => {
    expect(shown([])).toBe('There is nothing.\n')
  })

  test('is at most 100 columns wide: it leaves spare columns out, cuts text, wraps what is worth it, and keeps ids', () => {
    const id = '6191cd4e-661a-4019-8612-b390a945a09f'
    const text = shown([thing({ id, name: 'n'.repeat(80), error: 'it came too late '.repeat(20) }), thing({ id: '8' })])
    const lines = linesOf(text)
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(100)
    expect(lines[0]).not.toContain('more')
    expect(text).toContain(id)
    expect(text).toContain('…')
    expect(text.match(/late/g)).toHaveLength(20)
    expect(lines.at(-1)).toBe('(shortened; --wide shows everything)')
  })

  test('leaves spare columns out before it cuts a text below what it is to keep', () => {
    const least = columns.map((column) => (column.title === 'name' ? { ...column, least: 40 } : column))
    const text = table(least, [thing({ name: 'n'.repeat(45), error: 'why '.repeat(20) })], { now, empty: '' })
    expect(linesOf(text)[0]).not.toContain('more')
    expect(text).toMatch(/n{39}/)
  })

  test('fits with more ids than there is room for', () => {
    const many = Array.from({ length: 9 }, (_, index) => ({ ...columns[0], title: `id ${index}` })) as Column<Thing>[]
    const text = table(many, [thing({ id: 'x'.repeat(40) })], { now, empty: '' })
    for (const line of linesOf(text)) expect(widthOf(line)).toBeLessThanOrEqual(100)
  })

  test('counts wide characters as the terminal does', () => {
    const lines = linesOf(shown([thing({ name: '日本語の名前'.repeat(9), error: 'why '.repeat(40) })]))
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(100)
  })

  describe.each([60, 80, 120, 200])('in a terminal of %i columns', (width) => {
    const id = '6191cd4e-661a-4019-8612-b390a945a09f'
    test.each([
      ['plain', 'n'.repeat(80), 'it came too late '.repeat(20)],
      ['wide', '日本語の名前'.repeat(9), '遅すぎた。'.repeat(40)],
      ['full of signs', '🧑‍🌾🇩🇪❤️'.repeat(20), 'a\u0301🌱 '.repeat(60)],
      ['beyond the first plane', '𠮷野家'.repeat(20), '𠮷'.repeat(99)],
    ])('fits, keeps ids, and says that it is shortened, with text that is %s', (_, name, error) => {
      const text = table(columns, [thing({ id, name, error }), thing({ id: '8' })], { now, width, empty: '' })
      for (const line of linesOf(text)) expect(widthOf(line)).toBeLessThanOrEqual(width)
      expect(text).toContain(id)
    })
  })

  test('uses the room of a wide terminal', () => {
    const row = thing({ name: 'n'.repeat(80), error: 'why '.repeat(20).trim() })
    expect(linesOf(table(columns, [row], { now, width: 300, empty: '' }))).toHaveLength(2)
    expect(table(columns, [row], { now, width: 120, empty: '' })).toContain('…')
  })

  test('is whole without a terminal: one line for each row, nothing cut, and times as people say them', () => {
    const row = thing({ name: 'n'.repeat(300), at: '2026-11-21T09:59:48.000Z', error: 'it came too late '.repeat(20) })
    const lines = linesOf(table(columns, [row], { now, width: Infinity, empty: '' }))
    expect(lines).toHaveLength(2)
    for (const part of ['n'.repeat(300), '12 s ago', 'it came too late '.repeat(20).trim()]) expect(lines[1]).toContain(part)
  })

  test('shows everything with --wide, times included', () => {
    const at = '2026-11-21T09:59:48.000Z'
    const lines = linesOf(shown([thing({ name: 'n'.repeat(80), at, error: 'e'.repeat(200) })], true))
    expect(lines).toHaveLength(2)
    for (const part of ['n'.repeat(80), at, 'e'.repeat(200), 'all of 7']) expect(lines[1]).toContain(part)
  })

  test('lets no text from outside move the cursor, change colours or turn the direction', () => {
    const text = shown([thing({ name: '\u001b[31mred\u202e\u0085\r\n\u2028' })])
    expect(text).toContain('?[31mred?????')
    expect(linesOf(text)).toHaveLength(2)
  })
})

test.each([
  [0, 'now'],
  [-12_000, '12 s ago'],
  [-119_000, '119 s ago'],
  [-300_000, '5 min ago'],
  [300_000, 'in 5 min'],
  [7_200_000, 'in 2 h'],
  [-172_800_000, '2 d ago'],
  [1e15, 'in 11574074 d'],
])('a time %i ms from now is %j', (offset, words) => {
  expect(relativeTime(now + offset, now)).toBe(words)
})

test('JSON is one object per line, and an error is one object', () => {
  expect(jsonLines([])).toBe('')
  expect(jsonLines([{ a: 1 }, { b: '\n' }])).toBe('{"a":1}\n{"b":"\\n"}\n')
  const obeyed = jsonLines([{ title: '\u009b2J\u202e\u2028é😀' }])
  expect(obeyed).toBe('{"title":"\\u009b2J\\u202e\\u2028é😀"}\n')
  expect(JSON.parse(obeyed)).toEqual({ title: '\u009b2J\u202e\u2028é😀' })
  expect(errorLine('folkmoot', 'no such file', true)).toBe('{"error":"no such file"}\n')
  expect(errorLine('folkmoot', 'no such file', false)).toBe('folkmoot: no such file\n')
  expect(errorLine('folkmoot', 'gone\u001b[31m\u009b2J\u202e\nat a line', false)).toBe('folkmoot: gone?[31m?2J?\nat a line\n')
  expect(usageLine('folkmoot', "error: unknown option '--x'\n", true)).toBe('{"error":"unknown option \'--x\'"}\n')
})
