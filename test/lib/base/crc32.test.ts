import { crc32 as reference } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { crc32 } from '../../../lib/base/crc32.ts'

describe('crc32', () => {
  test.each([
    ['', 0],
    ['a', 0xe8b7be43],
    ['123456789', 0xcbf43926],
    ['The quick brown fox jumps over the lazy dog', 0x414fa339],
  ])('of %j is the published value', (text, sum) => {
    expect(crc32(new TextEncoder().encode(text))).toBe(sum)
  })

  test('agrees with zlib at every length and every offset into a buffer', () => {
    const bytes = Uint8Array.from({ length: 64 }, (_, index) => (index * 167 + 251) & 0xff)
    for (let start = 0; start < 17; start++)
      for (let end = start; end <= bytes.length; end++) {
        const part = bytes.subarray(start, end)
        expect(crc32(part)).toBe(reference(part))
      }
  })

  test('agrees with zlib on any bytes', () => {
    const any = fc.uint8Array({ maxLength: 3000 })
    fc.assert(fc.property(any, (bytes) => crc32(bytes) === reference(bytes)))
  })
})
