import { expect, test } from 'vitest'
import { phoneNumbers } from '../../../adapters/ports/phone-numbers.ts'

const { parse } = phoneNumbers()

test.each([
  ['+49 30 901820', '+4930901820'],
  ['+49 (0)30 90-18-20', '+4930901820'],
  ['+1 (212) 736-5000', '+12127365000'],
  ['  +44 20 7930 4832 ', '+442079304832'],
])('%s is %s', async (text, number) => {
  expect(await parse(text)).toBe(number)
})

test.each([
  '',
  '030 901820',
  '+49',
  '+49 1',
  '+999 123456789',
  '+1 555 01',
  'call +49 30 901820',
  '+49 30 901820 please',
  '+'.repeat(250),
])('%s is no phone number of the world', async (text) => {
  expect(await parse(text)).toBeUndefined()
})
