/** The monitoring of the server: documents and rules name only metrics that it exports. */
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { startMetrics } from '../../../daemon/server/operate/metrics.ts'

const file = (name: string): string => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8')

// `folkmoot_relay` and `folkmoot_audit` are no metrics.
test('the alerts and the page about them name exported metrics only, and every one of ours', async () => {
  const metrics = await startMetrics(0, () => 'ready')
  onTestFinished(() => metrics.close())
  const text = await (await fetch(`http://127.0.0.1:${metrics.port}/metrics`)).text()
  const exported = [...text.matchAll(/^# TYPE (folkmoot_\S+)/gm)].map(([, name = '']) => name)
  const named = (name: string) =>
    new Set((file(name).match(/\bfolkmoot_(?!(?:relay|audit)\b)[a-z_]+/g) ?? []).map((each) => each.replace(/_bucket$/, '')))
  expect([...named('docs/monitoring/server-alerts.yaml')].filter((name) => !exported.includes(name))).toEqual([])
  expect([...named('docs/operating/watch.md')].toSorted()).toEqual(exported.toSorted())
  for (const [, alert = ''] of file('docs/monitoring/server-alerts.yaml').matchAll(/- alert: (\S+)/g))
    expect(file('docs/operating/watch.md')).toContain(alert)
})

test('figures are for this machine: a page under another name gets none', async () => {
  const metrics = await startMetrics(0, () => 'ready')
  onTestFinished(() => metrics.close())
  const { request } = await import('node:http')
  const status = await new Promise((resolve) =>
    request({ port: metrics.port, host: '127.0.0.1', path: '/metrics', headers: { host: 'evil.example' } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    }).end(),
  )
  expect(status).toBe(403)
  await expect(startMetrics(metrics.port, () => 'ready')).rejects.toThrow(/--metrics-port \d+ cannot be used: it is taken/)
})

test('the unit of the server names options that exist, and leaves a wrong configuration alone', async () => {
  const unit = file('daemon/systemd/folkmoot.service')
  const { createProgram } = await import('../../../daemon/server/program.ts')
  const out = { line: () => undefined, warn: () => undefined }
  const serve = createProgram({
    out,
    json: false,
    version: '0',
    failed: () => undefined,
    starting: () => undefined,
  }).commands.find((each) => each.name() === 'serve')
  const known = serve?.options.map(({ long }) => long)
  const used = /^ExecStart=.* serve (.*)$/m.exec(unit)?.[1]?.match(/--[a-z-]+/g) ?? []
  expect(used.length).toBeGreaterThan(3)
  for (const option of used) expect(known).toContain(option)
  expect(unit).toContain('RestartPreventExitStatus=2')
})
