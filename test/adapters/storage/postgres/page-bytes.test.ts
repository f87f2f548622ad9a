/** The bytes of pages. */
import { expect, test } from 'vitest'
import { bytesOf, longInBytes } from '../../../../adapters/storage/postgres/page-bytes.ts'

const page = (text: string) => ({ rows: [[text, '1', '7', 'f']], fields: [], command: 'SELECT', rowCount: 1 })

test.each(['', 'Sea', 'Müller', 'Łódź', '海', '🌊 \u0000 \u2028', '\uFEFFa'])('the bytes of %j are its UTF-8', (text) => {
  const repeated = text.repeat(5_000)
  expect(Buffer.from(repeated).equals(bytesOf(repeated))).toBe(true)
})

test('a long page is bytes, and a short one stays text', () => {
  const text = '🌊'.repeat(5_000)
  expect(longInBytes(page(text)).rows).toEqual([[Buffer.from(text), '1', '7', 'f']])
  expect(longInBytes(page('🌊')).rows).toEqual([['🌊', '1', '7', 'f']])
})
