import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..', '..')

test('a run in which a test fails ends with the exit code 1 and counts it, and names what was left out', () => {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const config = join(import.meta.dirname, 'fails', 'fails.config.ts')
  const { status, stdout } = spawnSync(process.execPath, [vitest, 'run', '--config', config], { cwd: root, encoding: 'utf8' })
  expect(stdout).toMatch(/\nLEFT OUT, 1 of test\/scripts\/fails\/fails.ts: a reason\n0 passed, 1 failed, 1 skipped\n$/)
  expect(status).toBe(1)
})
