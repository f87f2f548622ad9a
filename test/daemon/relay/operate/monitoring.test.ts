import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createMetrics } from '../../../../daemon/relay/operate/metrics.ts'

const page = (name: string): string => readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), 'utf8')
const named = (text: string): string[] => [...new Set(text.match(/\brelay_[a-z_]+/g))].sort()

/** Every name that a scrape may bring: those of a histogram have endings. */
async function exported(): Promise<ReadonlySet<string>> {
  const text = await createMetrics(() => undefined, '1.2.3').text()
  return new Set(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', kind]) =>
      kind === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  )
}

describe('what watches the relay', () => {
  test.each(['monitoring/grafana-dashboard.json', 'monitoring/alerts.yaml', 'operating/watch.md', 'operating/repair.md'])(
    'names in %s only metrics that are exported',
    async (name) => {
      const known = await exported()
      expect(named(page(name)).filter((each) => !known.has(each))).toEqual([])
    },
  )

  test('shows every metric on the dashboard', async () => {
    const shown = new Set(named(page('monitoring/grafana-dashboard.json')).map((name) => name.replace(/_bucket$/, '')))
    const all = [...(await exported())].filter((name) => !/_(bucket|sum|count)$/.test(name))
    expect(all.filter((name) => !shown.has(name))).toEqual([])
  })

  test('is a dashboard whose panels do not lie on each other, and rules that each say what is wrong', () => {
    const { panels } = JSON.parse(page('monitoring/grafana-dashboard.json')) as {
      readonly panels: readonly { readonly id: number; readonly gridPos: { readonly x: number; readonly y: number } }[]
    }
    expect(new Set(panels.map(({ gridPos: { x, y } }) => `${x},${y}`)).size).toBe(panels.length)
    const rules = page('monitoring/alerts.yaml').split('- alert: ').slice(1)
    for (const rule of rules) {
      expect(rule).toMatch(/expr: '.+'/)
      expect(rule).toMatch(/summary: '.+'/)
      expect(page('operating/watch.md')).toContain(rule.split('\n')[0])
    }
  })
})
