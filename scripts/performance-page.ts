/**
 * Writes the measured tables into `docs/performance.md` and the pages below it, between their marks, and draws them as SVG. Figures
 * come from what the benchmarks wrote with `--json` into `docs/performance/`. `npm run bench:all` measures everything, and calls this.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type Spread, whole } from '../bench/support/figures.ts'
import type { Report } from '../bench/support/report.ts'

const root = new URL('../', import.meta.url)

interface Api {
  readonly conditions: Readonly<Record<string, string | number>>
  readonly rows: readonly {
    readonly request: string
    readonly server: string
    readonly perSecond: Spread
    readonly ratio: Spread
    readonly cpuRatio: Spread
    readonly p99: Spread
    readonly cpu: Spread
  }[]
  /** Sentences about costs that must not grow. */
  readonly growth?: readonly string[]
}
interface Relay {
  readonly conditions: Readonly<Record<string, string | number>>
  readonly backlog: readonly {
    readonly sender: string
    readonly perSecond: Spread
    readonly ratio: Spread
    readonly cpu: Spread
    readonly peakMiB: Spread
  }[]
  readonly lags: readonly { readonly rate: number; readonly sender: string; readonly p50: number; readonly p99: number }[]
}
type Bar = readonly [name: string, value: Spread]

export const row = (...cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`
/** The first column is text, the others are numbers. */
export const tableOf = (columns: readonly string[], rows: readonly string[]): string =>
  [row(...columns), row('---', ...columns.slice(1).map(() => '---:')), ...rows].join('\n')
const range = ({ lowest, highest }: Spread): string => `${lowest.toFixed(2)}–${highest.toFixed(2)}`
export const conditionsOf = (conditions: Readonly<Record<string, string | number>>): string =>
  Object.entries(conditions)
    .map(([name, value]) => `- ${name}: ${value}`)
    .join('\n')
const fileName = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** A bar for each median, a line from the lowest round to the highest, and a mark at 1. */
export function plot(title: string, bars: readonly Bar[]): string {
  const [left, width, height] = [220, 420, 22]
  const longest = Math.max(1, ...bars.map(([, { highest }]) => highest)) * 1.08
  const x = (value: number): string => (left + (value / longest) * width).toFixed(1)
  const drawn = bars.map(([name, { median, lowest, highest }], place) => {
    const y = 34 + place * height
    const fill = /^(memory|lowdb|sqlite|postgres|folkmoot)/.test(name) ? '#2b6cb0' : '#a0aec0'
    return [
      `<text x="${left - 8}" y="${y + 11}" text-anchor="end">${escaped(name)}</text>`,
      `<rect x="${left}" y="${y}" width="${(Number(x(median)) - left).toFixed(1)}" height="14" fill="${fill}"/>`,
      `<path d="M${x(lowest)} ${y + 7}H${x(highest)}" stroke="#1a202c"/>`,
      `<text x="${left + width + 8}" y="${y + 11}">${median.toFixed(2)}</text>`,
    ].join('')
  })
  const bottom = 34 + bars.length * height
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 ${bottom + 8}" font-family="sans-serif" font-size="12" role="img">
<title>${escaped(title)}</title>
<rect width="700" height="${bottom + 8}" fill="#fff"/>
<text x="8" y="18" font-weight="bold">${escaped(title)}</text>
<path d="M${x(1)} 28V${bottom}" stroke="#718096" stroke-dasharray="3 3"/>
${drawn.join('\n')}
</svg>
`
}

/** A section of the page, and its plots by file name. */
interface Section {
  readonly text: string
  readonly plots: ReadonlyMap<string, string>
}

export function apiSection({ conditions, rows, growth = [] }: Api): Section {
  const plots = new Map<string, string>()
  const parts = [...Map.groupBy(rows, ({ request }) => request)].map(([request, those]) => {
    const name = `api-${fileName(request)}.svg`
    const bars = those.map(({ server, ratio }): Bar => [server, ratio])
    plots.set(name, plot(`${request}: requests/s, × bare`, bars))
    const lines = those.map(({ server, perSecond, ratio, cpuRatio, p99, cpu }) =>
      row(
        server,
        whole(perSecond.median),
        ratio.median.toFixed(2),
        range(ratio),
        p99.median.toFixed(1),
        whole(cpu.median),
        cpuRatio.median.toFixed(2),
      ),
    )
    const columns = ['server', 'requests/s', '× bare', 'of rounds', 'p99 ms', 'CPU µs', 'CPU, × bare']
    return `### ${request}\n\n![${request}](performance/${name})\n\n${tableOf(columns, lines)}`
  })
  const more = growth.length === 0 ? [] : [`Costs that must not grow:\n\n${growth.map((sentence) => `- ${sentence}`).join('\n')}`]
  return { text: [conditionsOf(conditions), ...parts, ...more].join('\n\n'), plots }
}

export function relaySection({ conditions, backlog, lags }: Relay): Section {
  const lines = backlog.map(({ sender, perSecond, ratio, cpu, peakMiB }) =>
    row(sender, whole(perSecond.median), ratio.median.toFixed(2), range(ratio), whole(cpu.median), whole(peakMiB.median)),
  )
  const lagLines = lags.map(({ rate, sender, p50, p99 }) => row(whole(rate), sender, p50.toFixed(0), p99.toFixed(0)))
  const text = [
    conditionsOf(conditions),
    '![deliveries a second](relay.svg)',
    tableOf(['sender', 'deliveries/s', '× bare', 'of rounds', 'CPU µs', 'peak MiB'], lines),
    tableOf(['offered events/s', 'sender', 'lag p50 ms', 'lag p99 ms'], lagLines),
  ]
  const bars = backlog.map(({ sender, ratio }): Bar => [sender, ratio])
  return { text: text.join('\n\n'), plots: new Map([['relay.svg', plot('Deliveries a second, × bare', bars)]]) }
}

/** Tables that are shown as they were printed. */
export function tablesSection({ conditions, tables }: Report): Section {
  const shown = tables.map(({ title, columns, rows }) => {
    const lines = rows.map((cells) => row(...cells))
    return `${title}:\n\n${tableOf(columns, lines)}`
  })
  return { text: [conditionsOf(conditions), ...shown].join('\n\n'), plots: new Map() }
}

/** @throws Error when the page has no such marks */
export function replaced(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- measured: ${name} -->`, `<!-- end: ${name} -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`docs/performance.md has no marks for ${name}`)
  return `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`
}

const ofTables = (text: string) => tablesSection(JSON.parse(text) as Report)

const sections = {
  api: (text: string) => apiSection(JSON.parse(text) as Api),
  relay: (text: string) => relaySection(JSON.parse(text) as Relay),
  ...{
    rows: ofTables,
    lists: ofTables,
    cluster: ofTables,
    backlog: ofTables,
    isolation: ofTables,
    hosts: ofTables,
    start: ofTables,
  },
}

/**
 * The page with its sections whose figures exist; the others stay as they are.
 * @param page one of the pages before
 * @param figuresOf the text of the figures by their name, `undefined` if they are missing
 */
export function performancePage(page: string, figuresOf: (name: string) => string | undefined): Page {
  const made = { page, plots: new Map<string, string>() }
  for (const [name, make] of Object.entries(sections)) {
    const figures = figuresOf(name)
    if (figures === undefined || !page.includes(`<!-- measured: ${name} -->`)) continue
    const section = make(figures)
    made.page = replaced(made.page, name, section.text)
    for (const [file, svg] of section.plots) made.plots.set(file, svg)
  }
  return made
}

interface Page {
  readonly page: string
  /** By file name. */
  readonly plots: ReadonlyMap<string, string>
}

/** The pages with measured tables, in `docs/`. */
export const performancePages = ['performance.md', 'performance/large.md', 'performance/relay.md']

if (import.meta.main) {
  const figuresOf = (name: string): string | undefined => {
    const figures = new URL(`docs/performance/${name}.json`, root)
    return existsSync(figures) ? readFileSync(figures, 'utf8') : undefined
  }
  for (const name of performancePages) {
    const path = new URL(`docs/${name}`, root)
    const { page, plots } = performancePage(readFileSync(path, 'utf8'), figuresOf)
    writeFileSync(path, page)
    for (const [file, svg] of plots) writeFileSync(new URL(`docs/performance/${file}`, root), svg)
  }
}
