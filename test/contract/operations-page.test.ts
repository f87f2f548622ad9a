import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** Runs without Vitest, as a contributor runs the script. */
const script = `
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
const { folder, operationsPages } = await import('./scripts/operations-page.ts')
const { random } = Math
const pages = await operationsPages()
const there = [...readdirSync(folder).map((name) => join(folder, name)), folder + '.md']
const stale = there.filter((path) => pages.get(path) !== readFileSync(path, 'utf8'))
const missing = [...pages.keys()].filter((path) => !there.includes(path))
const remedy = stale.concat(missing).length > 0 ? 'run \`npx node scripts/operations-page.ts\`' : undefined
console.log(JSON.stringify({ stale, missing, remedy, isChanceBack: Math.random === random }))
`

test('docs/operations/ is what `node scripts/operations-page.ts` writes', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  expect(JSON.parse(stdout)).toEqual({ stale: [], missing: [], isChanceBack: true })
})
