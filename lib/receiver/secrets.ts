/**
 * Signing secrets in the text form of Standard Webhooks: a prefix and base64. `whsec_` is for HMAC-SHA256 (signature `v1`).
 * `whpk_` and `whsk_` are the public and the private key of ed25519 (signature `v1a`).
 */
import { areEqual, type Bytes, fromBase64, joined, toBase64, utf8 } from '../base/bytes.ts'

/** Makes the signature of a content: `v1,…` or `v1a,…`. */
export type Signer = (content: Bytes) => Promise<string>

/** Whether one of the signatures is right for a content. */
export type Verifier = (content: Bytes, signatures: readonly Signature[]) => Promise<boolean>

export interface Signature {
  readonly version: string
  readonly bytes: Bytes
}

/** Shorter secrets can be guessed (Standard Webhooks: 24 to 64 bytes). */
const leastSecretBytes = 24
const publicKeyBytes = 32
const seedBytes = 32

/** The bytes before the seed of an ed25519 key in PKCS #8 (RFC 8410, section 7). */
export const pkcs8 = new Uint8Array([0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20])

const rules = {
  whsec_: `whsec_ and at least ${leastSecretBytes} bytes in base64`,
  whpk_: `whpk_ and the ${publicKeyBytes} bytes of an ed25519 public key in base64`,
  whsk_: 'whsk_ and the 32 bytes of an ed25519 private key, or these and its public key, in base64',
}

/** What is wrong with the secrets of an option, one or several, without a secret in it; empty if nothing is. */
export function listProblem(given: unknown, option: string): string {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given]
  if (!list.every((value) => typeof value === 'string'))
    return `${option} must be a secret or a list of secrets; one of them is no text`
  return list.length > 0 ? '' : `${option} is an empty list: give \`false\` if the deliveries are unsigned`
}

/** Whether the bytes behind a prefix are as many as they should be. */
function bytesOf(secret: string, prefix: keyof typeof rules, isRight: (length: number) => boolean): Bytes {
  const bytes = fromBase64(secret.slice(prefix.length))
  if (!bytes || !isRight(bytes.length)) throw new TypeError(`a secret must be ${rules[prefix]}`)
  return bytes
}

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>

const hmac = (secret: string): Promise<Key> => {
  const bytes = bytesOf(secret, 'whsec_', (length) => length >= leastSecretBytes)
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
}

const mac = async (key: Key, content: Bytes): Promise<Bytes> => new Uint8Array(await crypto.subtle.sign('HMAC', key, content))

/**
 * Makes the verifier of a secret.
 * @param secret `whsec_…` or `whpk_…`
 * @throws TypeError without the secret in it
 */
export async function verifierOf(secret: string): Promise<Verifier> {
  if (secret.startsWith('whsec_')) {
    const key = await hmac(secret)
    return async (content, signatures) => {
      const candidates = signatures.filter(({ version }) => version === 'v1')
      if (candidates.length === 0) return false
      const expected = await mac(key, content)
      return candidates.map(({ bytes }) => areEqual(bytes, expected)).includes(true)
    }
  }
  if (secret.startsWith('whpk_')) {
    const bytes = bytesOf(secret, 'whpk_', (length) => length === publicKeyBytes)
    const key = await crypto.subtle.importKey('raw', bytes, { name: 'Ed25519' }, false, ['verify'])
    return async (content, signatures) => {
      const candidates = signatures.filter(({ version }) => version === 'v1a')
      const results = candidates.map(({ bytes: signature }) => crypto.subtle.verify({ name: 'Ed25519' }, key, signature, content))
      return (await Promise.all(results)).includes(true)
    }
  }
  if (secret.startsWith('whsk_')) throw new TypeError('whsk_ is the private key of the sender: a receiver takes whpk_')
  throw new TypeError(`a secret must be ${rules.whsec_}, or ${rules.whpk_}`)
}

/**
 * Makes the signer of a secret.
 * @param secret `whsec_…` or `whsk_…`
 * @throws TypeError without the secret in it
 */
export async function signerOf(secret: string): Promise<Signer> {
  if (secret.startsWith('whsec_')) {
    const key = await hmac(secret)
    return async (content) => `v1,${toBase64(await mac(key, content))}`
  }
  if (secret.startsWith('whsk_')) {
    const bytes = bytesOf(secret, 'whsk_', (length) => [seedBytes, seedBytes + publicKeyBytes].includes(length))
    const encoded = joined([pkcs8, bytes.subarray(0, seedBytes)])
    const key = await crypto.subtle.importKey('pkcs8', encoded, { name: 'Ed25519' }, false, ['sign'])
    return async (content) => `v1a,${toBase64(new Uint8Array(await crypto.subtle.sign({ name: 'Ed25519' }, key, content)))}`
  }
  if (secret.startsWith('whpk_')) throw new TypeError('whpk_ is a public key, which cannot sign: take whsk_')
  throw new TypeError(`a secret must be ${rules.whsec_}, or ${rules.whsk_}`)
}

export const signedContent = (id: string, timestamp: string, body: Uint8Array): Bytes =>
  joined([utf8(`${id}.${timestamp}.`), body])
