import { describe, expect, test } from 'vitest'
import { withoutPassword } from '../../../lib/base/without-password.ts'

const schemes = [
  'postgres',
  'POSTGRES',
  'postgresql',
  'postgress',
  'mysql',
  'redis',
  'https',
  'HTTP',
  'sqlite',
  'lowdb',
  'jdbc:postgresql',
]
const passwords = [
  'DBSECRET',
  'DB/SEC@RET',
  'DB:SECRET',
  'DB?SECRET',
  '12?3SECRET',
  '12/SECRET',
  'DB#SECRET',
  'DB SECRET',
  '%44BSECRET',
  'DB\'SEC"RET',
]
const around = ['', ' ', '\t', '\n', '\u00a0', '\ufeff', '"', "'"]
const secret = /SEC|RET|44B/

describe.each(schemes)('the password of an address of %s', (scheme) => {
  test.each(passwords)('%s is hidden, whatever stands around it', (password) => {
    for (const blank of around) {
      for (const body of [`u:${password}@h/x`, `u:${password}@h:5432/x?schema=y`, `:${password}@h`]) {
        expect(withoutPassword(`${blank}${scheme}://${body}${blank}`)).toMatch(/\*\*\*@h/)
        expect(withoutPassword(`${blank}${scheme}://${body}${blank}`)).not.toMatch(secret)
      }
    }
  })
})

test.each([
  ['u:SECRET@h/x', 'u:***@h/x'],
  ['user:SECRET@h/x', 'user:***@h/x'],
  ['mysql:u:SECRET@h', 'mysql:u:***@h'],
  ['redis:SECRET@h', 'redis:***@h'],
  ['//u:SECRET@h', '//u:***@h'],
  ['redis://SECRET@h:6379', 'redis://***@h:6379'],
  ['https:\\\\u:SECRET@h', 'https:\\\\u:***@h'],
  ['postgres://h/x?user=u&password=SECRET&schema=y', 'postgres://h/x?user=u&password=***&schema=y'],
  ['postgres://h/x?PASSWORD=SECRET', 'postgres://h/x?PASSWORD=***'],
  ['postgres://h/x?sslpassword=SECRET', 'postgres://h/x?sslpassword=***'],
  ["host=h password='SEC RET' user=u", 'host=h password=*** user=u'],
  ['host=h password = SECRET', 'host=h password = ***'],
  ['https://h/hook?token=SECRET', 'https://h/hook?token=***'],
])('of %s is shown %s', (address, shown) => {
  expect(withoutPassword(address)).toBe(shown)
})

test.each([
  'postgres://u@h/x',
  'postgres://h:5432/x?schema=y',
  'postgres://h:5432/x?application_name=a@b',
  'sqlite:./me@home/db.sqlite',
  'lowdb:/srv/@scope/a:b@c.json',
  'memory:',
  '/srv/@scope/outbox',
  './data/outbox',
  '@scope/outbox',
  'C:\\Users\\me@work\\outbox',
  'https://h/x/@ada',
  'https://h:8443/x',
  '',
])('%s is shown as it is', (address) => {
  expect(withoutPassword(address)).toBe(address)
})

test.each([
  ["unknown option '--sotrage=postgres://u:SECRET@h/x'", "unknown option '--sotrage=postgres://u:***@h/x'"],
  ["unknown option '--sotrage=u:SECRET@h/x'", "unknown option '--sotrage=u:***@h/x'"],
  ['Expected 0 arguments but got 2: a://u:SECRET@h, b://u:SECRET@i.', 'Expected 0 arguments but got 2: a://u:***@i.'],
])('in the sentence %s it is hidden', (sentence, shown) => {
  expect(withoutPassword(sentence)).toBe(shown)
})
