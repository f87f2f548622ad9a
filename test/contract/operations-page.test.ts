import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { operationsPage, pagePath } from '../../scripts/operations-page.ts'

test('docs/operations.md is what `node scripts/operations-page.ts` writes', async () => {
  const page = await operationsPage()
  const differs = page === readFileSync(pagePath, 'utf8') ? 'current' : 'out of date: run `node scripts/operations-page.ts`'
  expect(differs).toBe('current')
})

test('the page is the same every time, and random again afterwards', async () => {
  const { random } = Math
  expect(await operationsPage()).toBe(await operationsPage())
  expect(Math.random).toBe(random)
})
