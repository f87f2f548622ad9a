import { expect, test } from 'vitest'
import { counted } from '../../../lib/base/counted.ts'

test('one thing is singular, and any other number plural', () => {
  expect([0, 1, 2].map((count) => counted(count, 'row'))).toEqual(['0 rows', '1 row', '2 rows'])
  expect([1, 2].map((count) => counted(count, 'delivery', 'deliveries'))).toEqual(['1 delivery', '2 deliveries'])
})
