/** Texts as a search compares them. */

/** Letters that Unicode does not take for others with a mark, and the sigma at the end of a word. */
const plainLetters: Readonly<Record<string, string>> = {
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', þ: 'th', ð: 'd', đ: 'd', ø: 'o', ł: 'l', ħ: 'h', ı: 'i', ς: 'σ' },
}

/** Without case and accents. */
export const folded = (text: string, marks = /\p{M}/gu): string =>
  text
    .normalize('NFKD')
    .replace(marks, '')
    .toLowerCase()
    .replace(/[ßæœþðđøłħıς]/g, (letter) => plainLetters[letter] ?? letter)

/** The words of a search, each without case and accents. */
export const wordsOf = (text: string): string[] =>
  folded(text)
    .split(/\s+/)
    .filter((word) => word !== '')
