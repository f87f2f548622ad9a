/**
 * What a relay must know before it may send to an endpoint. A record names it in `requires`, in words. A relay that does not know one of
 * them sends nothing: without a filter or a header that somebody asked for, receivers would get what they must not, or refuse it.
 */
import type { StoredAttributes } from './endpoint-attributes.ts'

/** The words that this version knows. An attribute that changes what is sent adds its own, and so does a new form of one. */
export const knownWords: readonly string[] = ['headers', 'filter', 'no-key']

/** The words of an endpoint. */
export const requiresOf = ({ headers, filter, key }: Pick<StoredAttributes, 'headers' | 'filter' | 'key'>): readonly string[] => [
  ...(headers ? ['headers'] : []),
  ...(filter ? ['filter'] : []),
  ...(key === '' ? ['no-key'] : []),
]

/** Why nothing may be sent to an endpoint, for a person; `undefined` if this version knows every word. */
export function notUnderstood(requires: readonly string[]): string | undefined {
  const unknown = unknownWords(requires)
  if (unknown.length === 0) return undefined
  return `it needs ${unknown.map((word) => `\`${word}\``).join(', ')}, unknown to this version of the relay: update the relay`
}

/** The words of a record that this version does not know. */
export const unknownWords = (requires: readonly string[]): readonly string[] =>
  requires.filter((word) => !knownWords.includes(word))
