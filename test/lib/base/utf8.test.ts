import { expect, test } from 'vitest'
import { utf8Length } from '../../../lib/base/utf8.ts'

const encoder = new TextEncoder()

test.each([
  '',
  'Ada',
  'é',
  'ߺ',
  'ࠀ',
  '€',
  '\uffff',
  '🌱',
  'a🌱b',
  '\ud83c',
  '\udf31',
  '\udf31\ud83c',
  '\ud83c\ud83c\udf31',
  '🌱\ud83c',
  'ﬀ👩‍👩‍👧‍👦',
])('the length of %j is that of its bytes', (text) => {
  expect(utf8Length(text)).toBe(encoder.encode(text).length)
})
