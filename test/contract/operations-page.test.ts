import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { operationsPage, pagePath } from '../../scripts/operations-page.ts'

test('docs/operations.md is what `node scripts/operations-page.ts` writes', async () => {
  const { random } = Math
  const page = await operationsPage()
  expect(Math.random, 'chance stands still only while the page is made').toBe(random)
  const differs = page === readFileSync(pagePath, 'utf8') ? 'current' : 'out of date: run `node scripts/operations-page.ts`'
  expect(differs).toBe('current')
})
