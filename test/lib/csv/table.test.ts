/** CSV and NDJSON as spreadsheets and other systems write them. */
import { describe, expect, test } from 'vitest'
import { readTable, writeCsv } from '../../../lib/csv/table.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const value of values) found.push(value)
  return found
}

const pieces = (whole: Uint8Array, size: number): Uint8Array[] =>
  Array.from({ length: Math.ceil(whole.length / size) }, (_, n) => whole.subarray(n * size, (n + 1) * size))

/** The rows, with the text in pieces of each size. */
async function rowsOf(text: string, format: 'csv' | 'ndjson' = 'csv') {
  const whole = bytes(text)
  const results: unknown[][] = []
  for (const size of [1, 2, 3, 7, whole.length || 1]) {
    results.push(await all(readTable(pieces(whole, size), format)))
  }
  for (const each of results) expect(each).toEqual(results[0])
  return results[0]
}

describe('CSV', () => {
  const expected = [
    { email: 'a@b.org', name: 'Ada, "the" Ash', bio: 'two\nlines' },
    { email: 'ç@b.org', name: '', bio: '' },
  ]
  test.each([
    ['commas', 'email,name,bio\na@b.org,"Ada, ""the"" Ash","two\nlines"\nç@b.org,,\n'],
    ['CRLF', 'email,name,bio\r\na@b.org,"Ada, ""the"" Ash","two\r\nlines"\r\nç@b.org,,\r\n'],
    ['a byte order mark', '\uFEFFemail,name,bio\na@b.org,"Ada, ""the"" Ash","two\nlines"\nç@b.org,,\n'],
    ['semicolons', 'email;name;bio\na@b.org;"Ada, ""the"" Ash";"two\nlines"\nç@b.org;;\n'],
    ['tabs', 'email\tname\tbio\na@b.org\t"Ada, ""the"" Ash"\t"two\nlines"\nç@b.org\t\t\n'],
    ['no last line break', 'email,name,bio\na@b.org,"Ada, ""the"" Ash","two\nlines"\nç@b.org,,'],
    ['lone carriage returns', 'email,name,bio\ra@b.org,"Ada, ""the"" Ash","two\rlines"\rç@b.org,,\r'],
    [
      "a spreadsheet's line for the separator",
      'sep=|\r\nemail|name|bio\r\na@b.org|"Ada, ""the"" Ash"|"two\nlines"\r\nç@b.org||\r\n',
    ],
    [
      'empty rows and a separator at the ends',
      '\n;;;\nemail;name;bio\n; ;;\na@b.org;"Ada, ""the"" Ash";"two\nlines";\n;;;\nç@b.org;;; \n',
    ],
    ['empty lines and short rows', 'email,name,bio\n\na@b.org,"Ada, ""the"" Ash","two\nlines"\nç@b.org\n\n'],
  ])('is read with %s', async (_, text) => {
    expect(await rowsOf(text)).toEqual(expected)
  })

  test.each([1, 10_000])('a quote in the wrong place is refused whatever follows it, with %i rows', async (count) => {
    const rows = (from: number) => Array.from({ length: count }, (_, n) => `${from + n}@b.org,"P ${n}"\r\n`).join('')
    for (const wrong of ['"Carl" Cox', '"Carl Cox']) {
      const read: unknown[] = []
      const file = readTable(pieces(bytes(`email,name\r\n${rows(0)}c@b.org,${wrong}\r\n${rows(count)}`), 65_536), 'csv')
      const reading = (async () => {
        for await (const row of file) read.push(row)
      })()
      const message = `file: row ${count + 1} has a quote that does not end, or text behind one (it begins in line ${count + 2})`
      await expect(reading).rejects.toMatchObject({ status: 422, message })
      expect(read).toHaveLength(count)
    }
  })

  test.each([
    ['a quote that does not end', 'email,name\na@b.org,"Ada\n', 'file: row 1 has a quote that does not end'],
    ['too many values', 'email,name\nx,y\na@b.org,Ada,Ash\n', 'file: row 2 has 3 values, and there are 2 columns'],
    ['a column twice', 'email,email\na@b.org,b@b.org\n', 'file has two columns "email"'],
    [
      'a column twice in other letters',
      'Email,E-mail,email\na@b.org,b@b.org\n',
      'file has two columns "email": rename or remove one',
    ],
    ['UTF-16 without a mark', 'e\0m\0a\0i\0l\0\n\0a\0', 'file must be UTF-8'],
    ['text behind a quote among the names', '{"email":"a@b.org","n":1}\n', 'file: the row of names has a quote'],
    ['a line that is counted', 'email,name\n\n"a@\nb.org",\nx,y,z\n', 'into quotes (it begins in line 5)'],
    ['nothing', '', 'file is empty'],
  ])('with %s is refused', async (_, text, message) => {
    await expect(rowsOf(text)).rejects.toMatchObject({ status: 422, message: expect.stringContaining(message) })
  })

  test('in another encoding is refused', async () => {
    const latin1 = new Uint8Array([...bytes('email\n'), 0xe7, 0x40])
    await expect(all(readTable([latin1], 'csv'))).rejects.toMatchObject({ status: 422 })
  })

  test('without an end is refused before it fills the memory', async () => {
    let chunks = 0
    function* endless() {
      for (;;) {
        chunks++
        yield bytes(`"${'x'.repeat(100_000)}`)
      }
    }
    await expect(all(readTable(endless(), 'csv'))).rejects.toMatchObject({ status: 422 })
    expect(chunks).toBeLessThan(20)
  })

  test('is written so that it reads back, and no spreadsheet runs it', async () => {
    const rows = [
      { a: '=1+1', b: 'x,"y"' },
      { a: '-2', b: null },
      { a: '@x', b: 7 },
    ]
    const text = writeCsv(['a', 'b'], rows, true)
    expect(text).toBe('a,b\r\n"\'=1+1","x,""y"""\r\n"\'-2",\r\n"\'@x",7\r\n')
    expect(await rowsOf(text)).toEqual(rows.map(({ a, b }) => ({ a, b: b === null ? '' : String(b) })))
  })
})

test('NDJSON is read line by line, and a wrong line is named', async () => {
  expect(await rowsOf('{"email":"a@b.org"}\n\n{"email":"ç@b.org","n":1}', 'ndjson')).toEqual([
    { email: 'a@b.org' },
    { email: 'ç@b.org', n: 1 },
  ])
  await expect(rowsOf('{"email":"a"}\n[1]\n', 'ndjson')).rejects.toMatchObject({ message: 'file: row 2 must be an object' })
  await expect(rowsOf('{"email":\n', 'ndjson')).rejects.toMatchObject({ message: 'file: row 1 is no JSON' })
})
