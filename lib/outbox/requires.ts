/**
 * The capabilities that a relay needs before it may send to an endpoint; a record lists them in `requires`. A relay that lacks one of
 * them sends nothing: without a filter or a header that was configured, receivers would get what they must not, or refuse it.
 */
import type { StoredAttributes } from './endpoint-attributes.ts'
import { usesChanged } from './filter.ts'

/** The attributes that change what is sent, or where: each of them is a capability. A new form of one is another capability. */
const attributeCapabilities = [
  'headers',
  'filter',
  'allow_addresses',
  'client_identity',
  'ca',
  'format',
] as const satisfies readonly (keyof StoredAttributes)[]

export const capabilities: readonly string[] = [...attributeCapabilities, 'filter-changed', 'no-key']

export const requiresOf = (
  endpoint: Pick<StoredAttributes, (typeof attributeCapabilities)[number] | 'key'>,
): readonly string[] => [
  ...attributeCapabilities.filter((name) => endpoint[name] != null),
  ...(endpoint.filter && usesChanged(endpoint.filter) ? ['filter-changed'] : []),
  ...(endpoint.key === '' ? ['no-key'] : []),
]

/** Begins every reason that is about something that a relay lacks. */
export const needs = 'it needs '

/** Why nothing may be sent to an endpoint, for a person; `undefined` if this version has every capability. */
export function unsupportedReason(requires: readonly string[]): string | undefined {
  const unsupported = unsupportedCapabilities(requires)
  if (unsupported.length === 0) return undefined
  return `${needs}${unsupported.map((capability) => `\`${capability}\``).join(', ')}, unknown to this version of the relay: update the relay`
}

/** The required capabilities that this version lacks. */
export const unsupportedCapabilities = (requires: readonly string[]): readonly string[] =>
  requires.filter((capability) => !capabilities.includes(capability))
