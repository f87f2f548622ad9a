import { expect, test } from 'vitest'
import { committedFlags, filterFlagsText } from '../../scripts/filter-flags.ts'

test('the flags of filters are what `npx node scripts/filter-flags.ts` writes', () => {
  expect(committedFlags() === filterFlagsText() ? 'current' : 'out of date: run `npx node scripts/filter-flags.ts`').toBe(
    'current',
  )
})
