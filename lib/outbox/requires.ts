/**
 * What a relay must know before it may send to an endpoint. A record names it in `requires`, in words. A relay that does not know one of
 * them sends nothing: without a filter or a header that was configured, receivers would get what they must not, or refuse it.
 */
import type { StoredAttributes } from './endpoint-attributes.ts'

/** The attributes that change what is sent, or where: each of them is a word. A new form of one is another word. */
const wordNames = [
  'headers',
  'filter',
  'allow_addresses',
  'client_identity',
  'ca',
] as const satisfies readonly (keyof StoredAttributes)[]

/** The words that this version knows. */
export const knownWords: readonly string[] = [...wordNames, 'no-key']

/** The words of an endpoint. */
export const requiresOf = (endpoint: Pick<StoredAttributes, (typeof wordNames)[number] | 'key'>): readonly string[] => [
  ...wordNames.filter((name) => endpoint[name] != null),
  ...(endpoint.key === '' ? ['no-key'] : []),
]

/** Begins every reason that is about something that a relay lacks. */
export const needs = 'it needs '

/** Why nothing may be sent to an endpoint, for a person; `undefined` if this version knows every word. */
export function notUnderstood(requires: readonly string[]): string | undefined {
  const unknown = unknownWords(requires)
  if (unknown.length === 0) return undefined
  return `${needs}${unknown.map((word) => `\`${word}\``).join(', ')}, unknown to this version of the relay: update the relay`
}

/** The words of a record that this version does not know. */
export const unknownWords = (requires: readonly string[]): readonly string[] =>
  requires.filter((word) => !knownWords.includes(word))
