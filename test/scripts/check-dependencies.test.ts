import { expect, test } from 'vitest'
import { isAhead } from '../../scripts/check-dependencies.ts'

test.each([
  ['6.0.0', '5.0.24', true],
  ['5.0.25', '5.0.24', true],
  ['5.1.0', '5.0.24', true],
  ['5.0.24', '5.0.24', false],
  ['5.0.9', '5.0.24', false],
  ['18.4.0-beta.17', '18.4.0-beta.17', false],
  ['18.4.1-beta.1', '18.4.0', true],
])('version %s is ahead of the latest %s: %s', (version, latest, expected) => {
  expect(isAhead(version, latest)).toBe(expected)
})
