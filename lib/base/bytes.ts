/** Bytes: base64, comparison in constant time. */

export type Bytes = Uint8Array<ArrayBuffer>

const encoder = new TextEncoder()

export const utf8 = (text: string): Bytes => encoder.encode(text)

/** The bytes of standard base64, or `undefined` if it is not that. */
export function fromBase64(text: string): Bytes | undefined {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** Bytes as standard base64. */
export const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

/** Bytes as base64url, without padding. */
export const toBase64url = (bytes: Uint8Array): string =>
  toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')

/** The bytes of base64url, or of standard base64; `undefined` if it is neither. */
export const fromBase64url = (text: string): Bytes | undefined => fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'))

/** One after the other. */
export function joined(parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Whether both are equal. The time depends on their length alone. */
export function areEqual(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false
  let difference = 0
  for (let at = 0; at < one.length; at++) difference |= (one[at] ?? 0) ^ (other[at] ?? 0)
  return difference === 0
}

/** Whether two texts are equal. The time does not depend on where they differ: their hashes are compared. */
export async function areEqualTexts(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((text) => crypto.subtle.digest('SHA-256', utf8(text))))
  return a !== undefined && b !== undefined && areEqual(new Uint8Array(a), new Uint8Array(b))
}
