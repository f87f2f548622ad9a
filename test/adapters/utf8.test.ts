/** Texts in UTF-8. */
import { expect, test } from 'vitest'
import { bytesOf, isBeyondLatin1 } from '../../adapters/utf8.ts'

test.each(['', 'Sea', 'Müller', 'Łódź', '海', '🌊 \u0000 \u2028', '\uFEFFa'])('the bytes of %j are its UTF-8', (text) => {
  const repeated = text.repeat(5_000)
  expect(Buffer.from(repeated).equals(bytesOf(repeated))).toBe(true)
})

test('half of a surrogate pair is the replacement character', () => {
  expect(bytesOf('a\uD83Cb海')).toEqual(Buffer.from('a\uFFFDb海'))
})

test.each([
  ['', false],
  ['Müller ÿ', false],
  ['Łódź', true],
  ['🌊', true],
])('%j is beyond Latin-1: %s', (text, isBeyond) => {
  expect(isBeyondLatin1(text)).toBe(isBeyond)
})
