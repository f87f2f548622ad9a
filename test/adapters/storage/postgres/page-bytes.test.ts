/** Long pages as bytes. */
import { expect, test } from 'vitest'
import { longInBytes } from '../../../../adapters/storage/postgres/page-bytes.ts'

const page = (text: string) => ({ rows: [[text, '1', '7', 'f']], fields: [], command: 'SELECT', rowCount: 1 })

test('a long page is bytes, and a short one stays text', () => {
  const text = '🌊'.repeat(5_000)
  expect(longInBytes(page(text)).rows).toEqual([[Buffer.from(text), '1', '7', 'f']])
  expect(longInBytes(page('🌊')).rows).toEqual([['🌊', '1', '7', 'f']])
})
