/** Tables of both programs, for people: they fit a terminal, and say times as people do. */
import { stripVTControlCharacters } from 'node:util'
import { wrapAnsi } from 'fast-wrap-ansi'
import { plain } from './json.ts'
import { type Paint, unpainted } from './output.ts'

/** The content of a cell; a Date is shown as the time from now, null as a dash. */
export type Cell = string | number | Date | null

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => Cell
  /** How it gives way when the table is too wide: `cut` by default, `wrap` onto more lines, `whole` never (ids that people copy). */
  readonly fits?: 'cut' | 'wrap' | 'whole'
  /** Characters that it keeps when it is cut or wrapped. */
  readonly least?: number
  /** `spare`: left out when the others do not fit, the last one first. `wide`: shown with --wide only. */
  readonly shown?: 'always' | 'spare' | 'wide'
  /** Whether its words are states, which have colours. */
  readonly isState?: boolean
}

export interface TableOptions {
  /** The sentence instead of a table without rows. */
  readonly empty: string
  /** Milliseconds since 1970, for times. */
  readonly now: number
  /** All columns, nothing shortened, times as ISO 8601. */
  readonly wide?: boolean | undefined
  /** Columns of the terminal, `Infinity` where nothing is shortened; 100 by default. */
  readonly width?: number | undefined
  readonly paint?: Paint | undefined
}

/** The widest that a table is without a known terminal. */
const maxWidth = 100
/** A shortened column keeps at least this much. */
const leastWidth = { cut: 10, wrap: 24, whole: 0 }
/** A column keeps at least this much, however narrow the terminal is. */
const smallest = 3
const gap = '  '

/** A table that fits, or the sentence for an empty one; it ends with a newline. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], options: TableOptions): string {
  const { empty, now, wide = false, width = maxWidth, paint = unpainted } = options
  if (rows.length === 0) return `${empty}\n`
  const written = columns
    .filter(({ shown }) => wide || shown !== 'wide')
    .map(({ title, cell, fits = 'cut', least = leastWidth[fits], shown = 'always', isState = false }) => {
      const cells = rows.map((row) => writtenCell(cell(row), now, wide))
      return {
        title,
        cells,
        fits,
        least,
        isState,
        spare: shown === 'spare',
        natural: Math.max(...[title, ...cells].map(widthOf)),
      }
    })
  const fitted = wide ? written.map((column) => ({ ...column, width: column.natural })) : narrowed(written, width)
  const heads = fitted.map(({ title, width }) => [cut(title, width)])
  const records = rows.map((_, row) =>
    fitted.map(({ cells, fits, width, isState }) => {
      const text = cells[row] ?? ''
      const parts = fits === 'wrap' ? wrapAnsi(text, width, { hard: true }).split('\n') : [cut(text, width)]
      return isState ? parts.map((part) => paint(colourOf(text), part)) : parts
    }),
  )
  const lines = [heads, ...records].flatMap((record) =>
    Array.from({ length: Math.max(...record.map((cell) => cell.length)) }, (_, line) =>
      fitted.map(({ width }, index) => padded(record[index]?.[line] ?? '', width)).join(gap),
    ),
  )
  const short = fitted.length < written.length || fitted.some((column) => column.width < column.natural && column.fits !== 'wrap')
  return `${lines.map((line) => `${line.trimEnd()}\n`).join('')}${short ? '(shortened; --wide shows everything)\n' : ''}`
}

/** What goes well, what waits or was stopped by someone, and what has failed. */
const colourOf = (state: string): 'green' | 'yellow' | 'red' =>
  /^(?:active|enabled|delivered)$/i.test(state)
    ? 'green'
    : /^(?:pending|off|paused|skipped|removed|deleted)/.test(state)
      ? 'yellow'
      : 'red'

interface Written {
  readonly title: string
  readonly cells: readonly string[]
  readonly fits: 'cut' | 'wrap' | 'whole'
  readonly least: number
  readonly spare: boolean
  readonly natural: number
}

const total = (widths: readonly number[]): number => widths.reduce((sum, each) => sum + each, (widths.length - 1) * gap.length)

/** Leaves columns out and narrows others until they fit. */
function narrowed<Each extends Written>(columns: readonly Each[], width: number): readonly (Each & { readonly width: number })[] {
  const least = columns.map((column) =>
    column.fits === 'whole' ? column.natural : Math.min(column.natural, Math.max(column.least, widthOf(column.title))),
  )
  const spare = columns.findLastIndex((column) => column.spare)
  if (total(least) > width && spare >= 0) return narrowed(columns.toSpliced(spare, 1), width)
  const kept = columns.map(({ fits, natural }) => (fits === 'whole' ? natural : smallest))
  const floor = [least, kept].find((each) => total(each) <= width) ?? columns.map(() => smallest)
  const widths = columns.map(({ natural }) => natural)
  for (let over = total(widths) - width; over > 0; over--) {
    const slack = widths.map((each, index) => (each > (floor[index] ?? 0) ? each : 0))
    const widest = slack.indexOf(Math.max(...slack))
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return columns.map((column, index) => ({ ...column, width: widths[index] ?? 0 }))
}

function writtenCell(cell: Cell, now: number, wide: boolean): string {
  if (cell === null) return '–'
  if (cell instanceof Date) return wide ? cell.toISOString() : relativeTime(cell.getTime(), now)
  return plain(String(cell))
}

/** A time that may be missing, as a cell. */
export const time = (iso: string | null): Date | null => (iso === null ? null : new Date(iso))

/** How long ago, or in how long: `12 s ago`, `in 5 min`, `now`. */
export function relativeTime(at: number, now: number): string {
  const seconds = Math.round(Math.abs(at - now) / 1000)
  if (seconds === 0) return 'now'
  const [size, unit] = units.find(([, , below]) => seconds < below) ?? [86_400, 'd']
  const amount = `${Math.floor(seconds / size)} ${unit}`
  return at > now ? `in ${amount}` : `${amount} ago`
}

/** Seconds of a unit, its name, and the seconds from which on the next one is used. */
const units = [
  [1, 's', 120],
  [60, 'min', 7200],
  [3600, 'h', 172_800],
] as const

const wideCharacter =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\ufe0f|\p{Emoji_Presentation}/u
const segments = new Intl.Segmenter()

/** Columns that a text takes in a terminal. */
export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  return [...segments.segment(text)].reduce((sum, { segment }) => sum + (wideCharacter.test(segment) ? 2 : 1), 0)
}

const padded = (text: string, width: number): string =>
  `${text}${' '.repeat(Math.max(0, width - widthOf(stripVTControlCharacters(text))))}`

function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let kept = ''
  for (const { segment } of segments.segment(text)) {
    if (widthOf(kept + segment) >= width) break
    kept += segment
  }
  return `${kept}…`
}
