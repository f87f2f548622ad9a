/** Which text is one emoji. */

/** Every emoji but those of several joined ones. A single pictograph may have a skin tone, or stand without its presentation. */
const simple =
  '^(?:\\p{Basic_Emoji}|\\p{Emoji_Keycap_Sequence}|\\p{RGI_Emoji_Flag_Sequence}|\\p{RGI_Emoji_Tag_Sequence}|' +
  '\\p{Extended_Pictographic}(?:\\p{Emoji_Modifier}|\\uFE0F)?)$'

/** Emojis joined to one, such as a family. */
const joined = '^\\p{RGI_Emoji_ZWJ_Sequence}$'
const joiner = '\u200d'

// Two patterns, because the list of joined emojis is long: only a text with a joiner has to wait for it, and only once.
// No literals, because a parser reads those when it loads a module. This one list took longer than every other declaration.
const compiled = new Map<string, RegExp>()

/** Whether a text is one emoji that is recommended for general interchange (`RGI_Emoji`), or one pictograph. */
export function isEmoji(text: string): boolean {
  const pattern = text.includes(joiner) ? joined : simple
  const expression = compiled.get(pattern) ?? new RegExp(pattern, 'v')
  compiled.set(pattern, expression)
  return expression.test(text)
}
