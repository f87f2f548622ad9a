import fc from 'fast-check'
import { expect, test } from 'vitest'
import { uuidAt } from '../../../lib/base/uuid.ts'

const time = fc.integer({ min: 0, max: 2 ** 48 - 1 })

test('a UUID at a time is one of version 7', () => {
  // The example of RFC 9562, A.6: 2022-02-22T19:22:22.000Z.
  expect(uuidAt(0x017f22e279b0, '919108f7-52d1-4cc3-98c4-dc0c0c07398f')).toBe('017f22e2-79b0-7cc3-98c4-dc0c0c07398f')
  fc.assert(
    fc.property(time, (milliseconds) => {
      const id = uuidAt(milliseconds, crypto.randomUUID())
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBe(milliseconds)
    }),
  )
})

test('a later one sorts behind', () => {
  fc.assert(
    fc.property(time, time, (a, b) => {
      fc.pre(a < b)
      expect(uuidAt(a, 'ffffffff-ffff-4fff-bfff-ffffffffffff') < uuidAt(b, '00000000-0000-4000-8000-000000000000')).toBe(true)
    }),
  )
})

test('two at one time differ by chance alone', () => {
  const ids = Array.from({ length: 1000 }, () => uuidAt(1, crypto.randomUUID()))
  expect(new Set(ids).size).toBe(1000)
})
