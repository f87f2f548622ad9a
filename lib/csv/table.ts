/** Tables as texts: CSV and NDJSON, read and written row by row in bounded memory. */
import Papa from 'papaparse'
import { fail, invalid } from '../errors.ts'

type TableRow = Readonly<Record<string, unknown>>

export type TableFormat = 'csv' | 'ndjson'

const longestRow = 1024 * 1024
const mostColumns = 500

const refuse = (row: number, problem: string): never => fail(invalid('file'), `file: row ${row} ${problem}`)
const notUtf8 = (): never => fail(invalid('file'), 'file must be UTF-8: save it as “CSV UTF-8”')

/** The text of bytes in UTF-8, with or without a byte order mark. @throws ApiError 422 for any other encoding */
async function* textOf(chunks: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (bytes?: Uint8Array): string => {
    try {
      return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode()
    } catch {
      return notUtf8()
    }
  }
  let isFirst = true
  for await (const chunk of chunks) {
    const text = typeof chunk === 'string' ? chunk : decode(chunk)
    if (text === '') continue
    yield isFirst ? text.replace(/^\uFEFF/, '') : text
    isFirst = false
  }
  const rest = decode()
  if (rest !== '') yield rest
}

/**
 * The rows of a file. CSV has a line of column names; commas, semicolons or tabs between them, or what a first line `sep=|` says;
 * and quotes where RFC 4180 has them. Empty rows are left out.
 * @throws ApiError 422 that names the row, for a file that is not UTF-8, has no or twice the same column, or a quote that does not end
 */
export async function* readTable(
  chunks: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
  format: TableFormat,
): AsyncGenerator<TableRow> {
  let number = 0
  let header: readonly string[] | undefined
  for await (const record of format === 'csv' ? recordsOf(textOf(chunks)) : linesOf(textOf(chunks))) {
    if (typeof record === 'string') {
      number++
      if (record.trim() !== '') yield objectOf(record, number)
      continue
    }
    const { cells, line, problem } = record
    if (!problem && cells.every(isEmpty)) continue
    if (header) number++
    const isLonger = header && !cells.slice(header.length).every(isEmpty)
    const columns = `has ${cells.length} values, and there are ${header?.length} columns: put values with a separator into quotes`
    const wrong = problem ?? (isLonger ? columns : undefined)
    if (wrong)
      fail(invalid('file'), `file: ${header ? `row ${number}` : 'the row of names'} ${wrong} (it begins in line ${line})`)
    if (header) yield Object.fromEntries(header.map((name, index) => [name, rearmed(cells[index] ?? '')]))
    else header = headerOf(cells)
  }
  if (format === 'csv' && !header) fail(invalid('file'), 'file is empty: the first line must name the columns')
}

const isEmpty = (cell: string): boolean => cell.trim() === ''

function headerOf(cells: readonly string[]): readonly string[] {
  const names = cells.map((cell) => rearmed(cell.trim()))
  if (names.length > mostColumns) fail(invalid('file'), `file has more than ${mostColumns} columns`)
  // Excel's “Unicode text”, without its byte order mark.
  if (names.some((name) => name.includes('\0'))) notUtf8()
  const keys = names.map((name) => name.toLowerCase())
  const twice = names.find((name, index) => name !== '' && keys.indexOf(name.toLowerCase()) !== index)
  if (twice !== undefined) fail(invalid('file'), `file has two columns ${JSON.stringify(twice)}: rename or remove one of them`)
  return names.map((name, index) => name || `column ${index + 1}`)
}

function objectOf(line: string, number: number): TableRow {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return refuse(number, 'is no JSON')
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : refuse(number, 'must be an object')
}

async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const text of texts) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > longestRow) fail(invalid('file'), `file has a line of more than ${longestRow} characters`)
    yield* lines
  }
  if (rest !== '') yield rest
}

/** The separator that the first line of names has most often, outside of quotes. */
function delimiterOf(text: string): string | undefined {
  const line = text
    .split('\n')
    .find((each) => each.trim() !== '')
    ?.replace(/"[^"]*"/g, '')
  const counts = [',', ';', '\t'].map((each) => ({ each, count: line?.split(each).length ?? 0 }))
  return line && counts.toSorted((one, other) => other.count - one.count)[0]?.each
}

interface CsvRecord {
  readonly cells: readonly string[]
  readonly line: number
  readonly problem: string | undefined
}

async function* recordsOf(texts: AsyncIterable<string>): AsyncGenerator<CsvRecord> {
  let rest = ''
  let delimiter: string | undefined
  let breaks: RegExp | undefined
  let line = 1
  function* parse(given: string, isLast: boolean): Generator<CsvRecord> {
    breaks ??= /^[^\n\r]*\r(?!\n)/.test(given) ? /\r/g : /\r\n/g
    let text = given.replace(breaks, '\n')
    const [whole = '', separator] = (line === 1 && /^"?sep=([^\n"])"?.*\n/i.exec(text)) || []
    if (separator) {
      delimiter = separator
      text = text.slice(whole.length)
      line++
    }
    delimiter ??= delimiterOf(text)
    const { data, errors, meta } = new Papa.Parser({ delimiter: delimiter ?? ',', newline: '\n' }).parse(text, 0, !isLast)
    rest = text.slice(meta.cursor)
    for (const [row, cells] of data.entries()) {
      // A record that is not whole yet is not among them.
      const isWrong = errors[0]?.row === row
      yield { cells, line, problem: isWrong ? 'has a quote that does not end, or text behind one' : undefined }
      line += cells.reduce((sum, cell) => sum + cell.split('\n').length - 1, 1)
    }
  }
  for await (const text of texts) {
    const whole = rest + text
    // A line break may come in two chunks.
    if (whole.endsWith('\r') || !/[\n\r]/.test(whole)) rest = whole
    else yield* parse(whole, false)
    if (rest.length > longestRow)
      yield { cells: [], line, problem: `is longer than ${longestRow} characters: is there a quote that does not end?` }
  }
  if (rest !== '') yield* parse(rest.replace(/\r$/, '\n'), true)
}

/**
 * Rows as CSV with CRLF, in batches of a text; a cell that a spreadsheet would take for a formula gets an apostrophe.
 * @param columns the order of the columns
 */
export function writeCsv(columns: readonly string[], rows: readonly TableRow[], withHeader: boolean): string {
  const cells = rows.map((row) => columns.map((column) => cellOf(row[column])))
  const data = withHeader ? [columns, ...cells] : cells
  return data.length === 0 ? '' : `${Papa.unparse(data, { newline: '\r\n', escapeFormulae: formula })}\r\n`
}

/** A text that a spreadsheet would take for a formula, or that looks disarmed already. */
const formula = /^'*[=+\-@\t\r]/

/** The apostrophe that disarms a formula is not the value's. */
const rearmed = (cell: string): string => (cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell)

const cellOf = (value: unknown): string => {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
