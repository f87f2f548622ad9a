import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { panelScript, target } from '../../scripts/panel/make-script.ts'

test("the panel's script is made of its source: `npx node scripts/panel/make-script.ts`", () => {
  expect(readFileSync(target, 'utf8')).toBe(panelScript())
})
