/**
 * Runs the tests of operations and kernel on another engine than memory:
 * `npx node scripts/test-on.ts lowdb|sqlite|postgres [vitest's arguments]`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'

const [engine = '', ...words] = process.argv.slice(2)
if (!['lowdb', 'sqlite', 'postgres'].includes(engine)) {
  process.stderr.write('usage: node scripts/test-on.ts lowdb|sqlite|postgres [vitest arguments]\n')
  process.exit(2)
}
const which = words.length > 0 ? words : ['test/contract', 'test/lib']
const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', '--project', 'main', ...which], {
  stdio: 'inherit',
  env: { ...process.env, FOLKMOOT_TEST_STORAGE: engine },
})
const [code] = await once(child, 'exit')
process.exitCode = code ?? 1
