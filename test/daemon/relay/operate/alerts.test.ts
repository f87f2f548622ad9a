import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const cwd = join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'monitoring')
const page = (name: string): string => readFileSync(join(cwd, name), 'utf8')

function promtool(...args: string[]): { readonly status: number | null; readonly text: string } | undefined {
  const { error, status, stdout, stderr } = spawnSync('promtool', args, { cwd, encoding: 'utf8' })
  return error ? undefined : { status, text: stdout + stderr }
}
const without = 'promtool is not there: apt-get install prometheus'

test('every alert rule has its own test', () => {
  const rules = [...page('alerts.yaml').matchAll(/- alert: (\w+)/g)].map(([, name]) => name)
  const tested = [...page('alerts.test.yaml').matchAll(/^ {2}- name: (\w+)$/gm)].map(([, name]) => name)
  expect(tested.toSorted()).toEqual(rules.toSorted())
})

test.for<[string, string[]]>([
  ['are rules', ['check', 'rules', 'alerts.yaml']],
  ['fire when they should, and only then', ['test', 'rules', 'alerts.test.yaml']],
])('the alert rules %s', ([, args], { skip }) => {
  const result = promtool(...args)
  if (!result) return skip(without)
  expect(result).toMatchObject({ status: 0 })
})
