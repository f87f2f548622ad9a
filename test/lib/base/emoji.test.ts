import { expect, test } from 'vitest'
import { isEmoji } from '../../../lib/base/emoji.ts'

const whole = /^(?:\p{RGI_Emoji}|\p{Extended_Pictographic}(?:\p{Emoji_Modifier}|\uFE0F)?)$/v

/** The characters of the blocks that have emojis, and some of the others. */
const characters = Array.from({ length: 0x110000 }, (_, code) => code)
  .filter((code) => code < 0x3300 || (code >= 0x1f000 && code < 0x20000) || code === 0xfe0f || code % 251 === 0)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
const parts = characters.filter((text) => /[\p{Emoji}\p{Extended_Pictographic}]/u.test(text))

/** Characters alone, with a presentation, a skin tone or a keycap behind, pairs of letters of flags, and joined ones. */
function* texts(): Generator<string> {
  yield* characters
  for (const part of parts) for (const behind of ['\ufe0f', '\u{1f3fb}', '\u20e3', '\ufe0f\u20e3', '\u200d']) yield part + behind
  const letters = parts.filter((part) => part >= '🇦' && part <= '🇿')
  for (const first of letters) for (const second of letters) yield first + second
  for (const first of ['👩', '🧑🏿', '🏳️']) for (const part of parts) yield `${first}\u200d${part}`
  yield* ['👨‍👩‍👧‍👦', '👩🏽‍❤️‍💋‍👨🏿', '🏴󠁧󠁢󠁥󠁮󠁧󠁿', '🏴󠁧󠁢󠁥󠁮󠁧', '👍👍', '👩‍👩', 'x', ' 👍', '']
}

test('a text is one emoji when Unicode recommends it for interchange, or when it is one pictograph', () => {
  const counts = { emoji: 0, other: 0 }
  const differing: string[] = []
  for (const text of texts()) {
    const expected = whole.test(text)
    counts[expected ? 'emoji' : 'other'] += 1
    if (isEmoji(text) !== expected) differing.push(text)
  }
  expect(differing).toEqual([])
  expect(counts.emoji).toBeGreaterThan(4_000)
  expect(counts.other).toBeGreaterThan(10_000)
})
