import { describe, expect, test } from 'vitest'
import { EncryptionError, encryptionKeyBytes, hasEncrypted, isEncrypted, keyRing } from '../../../lib/outbox/encryption.ts'

const [first, second, third] = [1, 2, 3].map((fill) => Buffer.alloc(32, fill).toString('base64')) as [string, string, string]
const until = '2026-12-01T00:00:00.000Z'
const plain = {
  id: '7',
  network_id: '1',
  key: 'the-key',
  secrets: ['secret-a', 'secret-b'],
  old_keys: [{ value: 'old-key', until }],
  old_secrets: [{ value: 'old-secret', until }],
}
const values = ['the-key', 'secret-a', 'secret-b', 'old-key', 'old-secret']

describe('a key ring', () => {
  test('encrypts every credential of an endpoint, and decrypts it again', async () => {
    const sealed = await keyRing([first]).seal(plain)
    for (const value of values) expect(JSON.stringify(sealed)).not.toContain(value)
    expect([sealed.key, ...sealed.secrets].every(isEncrypted)).toBe(true)
    expect(await keyRing([first]).open(sealed)).toEqual(plain)
  })

  test('gives the same value another text each time, and leaves a text of its first key as it is', async () => {
    const ring = keyRing([first])
    const sealed = await ring.seal(plain)
    expect((await ring.seal(plain)).key).not.toBe(sealed.key)
    expect(await ring.seal(sealed)).toEqual(sealed)
  })

  test('encrypts with its first key what a later one encrypted, and decrypts both', async () => {
    const sealed = await keyRing([first]).seal(plain)
    const rotated = keyRing([second, first])
    expect(await rotated.open(sealed)).toEqual(plain)
    const again = await rotated.seal(sealed)
    expect(await keyRing([second]).open(again)).toEqual(plain)
  })

  test('leaves what it cannot decrypt as it is when it encrypts', async () => {
    const sealed = await keyRing([first]).seal(plain)
    expect(await keyRing([third]).seal(sealed)).toEqual(sealed)
  })

  test('reads plain text, also without a key, and without one encrypts nothing', async () => {
    expect(await keyRing([first]).open(plain)).toEqual(plain)
    expect(await keyRing([]).open(plain)).toEqual(plain)
    expect(await keyRing([]).seal(plain)).toBe(plain)
  })

  test.each([
    ['no key', []],
    ['another key', [third]],
  ])('with %s names the missing one, and the way to give it', async (_, keys) => {
    const sealed = await keyRing([first]).seal(plain)
    const opening = keyRing(keys).open(sealed)
    await expect(opening).rejects.toThrow(EncryptionError)
    await expect(opening).rejects.toThrow(
      /^the token of endpoint 7 of network 1 is encrypted with the encryption key [0-9a-f]{16}, which is missing: add it to `encryptionKeys`, FOLKMOOT_ENCRYPTION_KEYS or --encryption-key-file$/,
    )
  })
})

describe('an encrypted value', () => {
  const moves: readonly (readonly [string, (sealed: typeof plain) => typeof plain])[] = [
    ['another endpoint', (sealed) => ({ ...sealed, id: '8' })],
    ['an endpoint of another network', (sealed) => ({ ...sealed, network_id: '2' })],
    ['the place of the key', (sealed) => ({ ...sealed, key: sealed.secrets[0] ?? '' })],
    ['itself with its end cut off', (sealed) => ({ ...sealed, key: sealed.key.slice(0, -2) })],
    ['itself with half of it cut off', (sealed) => ({ ...sealed, key: sealed.key.slice(0, -4) })],
    ['itself with a character changed', (sealed) => ({ ...sealed, key: flipped(sealed.key) })],
  ]
  const flipped = (text: string) => `${text.slice(0, -6)}${text.at(-6) === 'A' ? 'B' : 'A'}${text.slice(-5)}`

  test.each(moves)('moved to %s is not decrypted', async (_, move) => {
    const sealed = await keyRing([first]).seal(plain)
    await expect(keyRing([first]).open(move(sealed))).rejects.toThrow(/cannot be decrypted: it is damaged/)
  })

  test.each(['encrypted:', 'encrypted:2:abc', 'encrypted:1:zz:zz'])(
    'of an unknown form is never taken for plain text: %s',
    async (key) => {
      expect(hasEncrypted({ ...plain, key })).toBe(true)
      await expect(keyRing([first]).open({ ...plain, key })).rejects.toThrow(/in a format unknown to this version/)
    },
  )
})

test.each([
  ['base64', first, true],
  ['base64url without padding', Buffer.alloc(32, 255).toString('base64url'), true],
  ['31 bytes', Buffer.alloc(31).toString('base64'), false],
  ['33 bytes', Buffer.alloc(33).toString('base64'), false],
  ['something else', 'correct horse battery staple', false],
  ['no text', 7, false],
])('an encryption key is 32 bytes: %s', (_, given, good) => {
  expect(encryptionKeyBytes(given)?.length === 32).toBe(good)
})

test('a key ring names a malformed key by its place, never by its value', () => {
  expect(() => keyRing([first, 'hunter2'])).toThrow(/^encryption key 2 of 2 must be 32 bytes in base64/)
})
