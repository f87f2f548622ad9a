import { expect, test } from 'vitest'

test('is left out', ({ skip }) => skip('a reason'))

test('fails', () => {
  expect(1).toBe(2)
})
