import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** Runs without Vitest, as a contributor runs the script. */
const script = `
import { readFileSync } from 'node:fs'
const { operationsPage, pagePath } = await import('./scripts/operations-page.ts')
const { random } = Math
const page = await operationsPage()
const differs = page === readFileSync(pagePath, 'utf8') ? 'current' : 'out of date: run \`npx node scripts/operations-page.ts\`'
console.log(JSON.stringify({ differs, isChanceBack: Math.random === random }))
`

test('docs/operations.md is what `node scripts/operations-page.ts` writes', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script])
  expect(JSON.parse(stdout)).toEqual({ differs: 'current', isChanceBack: true })
})
