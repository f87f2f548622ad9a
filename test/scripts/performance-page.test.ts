import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  apiSection,
  performancePage,
  performancePages,
  plot,
  relaySection,
  replaced,
  tablesSection,
} from '../../scripts/performance-page.ts'

const spread = (median: number) => ({ median, lowest: median / 2, highest: median * 2 })
const conditions = { node: '24.1.0', rounds: 3 }

const request = 'GET /tags & more'
const api = {
  conditions,
  rows: ['bare', 'memory'].map((server, place) => ({
    ...{ request, server },
    perSecond: spread(12_345.6 / (place + 1)),
    ratio: spread(1 / (place + 1)),
    cpuRatio: spread(place + 1),
    p99: spread(2.34),
    cpu: spread(81.2),
  })),
}
const start = { conditions, tables: [{ title: 'Until it is there', columns: ['', 'ms'], rows: [['serve', '250']] }] }

test('the section of the API has its conditions, and a table and a plot for each request', () => {
  const { text, plots } = apiSection(api)
  expect(text).toBe(`- node: 24.1.0
- rounds: 3

### ${request}

![${request}](performance/api-get-tags-more.svg)

| server | requests/s | × bare | of rounds | p99 ms | CPU µs | CPU, × bare |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
| bare | 12,346 | 1.00 | 0.50–2.00 | 2.3 | 81 | 1.00 |
| memory | 6,173 | 0.50 | 0.25–1.00 | 2.3 | 81 | 2.00 |`)
  expect([...plots.keys()]).toEqual(['api-get-tags-more.svg'])
  expect(plots.get('api-get-tags-more.svg')).toContain('<title>GET /tags &amp; more: requests/s, × bare</title>')
})

test('the section of the relay has its throughput with a plot, and its lags', () => {
  const rates = { perSecond: spread(3_000), ratio: spread(0.8), cpu: spread(150), peakMiB: spread(90) }
  const lag = { rate: 1_000, sender: 'folkmoot', p50: 4.4, p99: 20.6 }
  const { text, plots } = relaySection({ conditions, backlog: [{ sender: 'folkmoot', ...rates }], lags: [lag] })
  expect(text.split('\n').filter((line) => line.includes('folkmoot'))).toEqual([
    '| folkmoot | 3,000 | 0.80 | 0.40–1.60 | 150 | 90 |',
    '| 1,000 | folkmoot | 4 | 21 |',
  ])
  expect([...plots.keys()]).toEqual(['relay.svg'])
})

test('other sections have their conditions, and their tables as printed', () => {
  const { text, plots } = tablesSection(start)
  expect(text).toBe('- node: 24.1.0\n- rounds: 3\n\nUntil it is there:\n\n|  | ms |\n| --- | ---: |\n| serve | 250 |')
  expect(plots.size).toBe(0)
})

test('a plot has a bar for each name, as long as its median', () => {
  const widths = [
    ...plot('t', [
      ['bare', spread(1)],
      ['<b>', spread(2)],
    ]).matchAll(/<rect x="220"[^>]*width="([\d.]+)"/g),
  ]
  const [first, second] = widths.map(([, width]) => Number(width))
  expect(widths).toHaveLength(2)
  expect((second ?? 0) / (first ?? 1)).toBeCloseTo(2, 1)
  expect(plot('t', [['<b>', spread(2)]])).toContain('>&lt;b></text>')
})

const page =
  'before\n<!-- measured: start -->\nold\n<!-- end: start -->\nbetween\n<!-- measured: api -->\nkept\n<!-- end: api -->\n'

test('the text between the marks is replaced, and the rest is kept', () => {
  const once = replaced(page, 'start', 'new')
  expect(once).toBe(page.replace('\nold\n', '\n\nnew\n\n'))
  expect(replaced(once, 'start', 'new')).toBe(once)
})

test('a page without the marks is refused', () => {
  expect(() => replaced(page, 'relay', 'new')).toThrow('docs/performance.md has no marks for relay')
})

test('figures that are missing leave their section alone', () => {
  const figures = (name: string) => (name === 'start' ? JSON.stringify(start) : undefined)
  const made = performancePage(page, figures)
  expect(made.page).toBe(replaced(page, 'start', tablesSection(start).text))
  expect(made.plots.size).toBe(0)
  expect(performancePage(page, () => undefined).page).toBe(page)
})

test('every mark of the pages has its section, and every section its page, so that they can be regenerated', () => {
  const pages = performancePages.map((name) => readFileSync(`docs/${name}`, 'utf8'))
  const marksOf = (page: string) => [...page.matchAll(/<!-- measured: (\w+) -->/g)].map(([, name]) => name)
  const all = ['api', 'hosts', 'start', 'lists', 'rows', 'relay', 'cluster', 'backlog', 'isolation']
  expect(pages.flatMap(marksOf)).toEqual(all)
  for (const page of pages)
    for (const name of marksOf(page))
      if (name !== 'api' && name !== 'relay') {
        const made = performancePage(page, (wanted) => (wanted === name ? JSON.stringify(start) : undefined)).page
        expect(made).toContain('| serve | 250 |')
      }
})
