/**
 * Tokens and signing secrets of endpoints, encrypted: as in the storage, in the outbox and in the store of a relay. The text
 * passes all three unchanged. The sender decrypts it, and so does the library when an endpoint changes.
 *
 * Terms
 * - **Encryption key**: 32 bytes that encrypt. Never the key of an endpoint, which is one of its credentials.
 * - **Key ring**: the encryption keys in their order. The first one encrypts, and all of them decrypt.
 * - **Credentials**: the key, the signing secrets and the headers of an endpoint, with those that were replaced.
 */
import { fromBase64url, toBase64url } from '../base/bytes.ts'
import { sha256 } from '../base/sha256.ts'
import type { Header } from './headers.ts'
import type { EndpointUpsert, ReplacedSecret } from './record.ts'

/** An endpoint, as far as it is about its credentials. */
export interface Credentials extends Pick<EndpointUpsert, 'id' | 'network_id' | 'key' | 'secrets'> {
  readonly old_keys?: readonly ReplacedSecret[] | null
  readonly old_secrets?: readonly ReplacedSecret[] | null
  readonly headers?: readonly Header[] | null
}

export interface KeyRing {
  /** Whether it has no key: then nothing is encrypted. */
  readonly isEmpty: boolean
  /**
   * The endpoint with its credentials encrypted by the first key. Those that no key here decrypts stay as they are.
   */
  seal<E extends Credentials>(endpoint: E): Promise<E>
  /**
   * The endpoint with its credentials in plain text; those that were never encrypted are that already.
   * @throws EncryptionError when one of them cannot be decrypted
   */
  open<E extends Credentials>(endpoint: E): Promise<E>
}

const brand = Symbol.for('folkmoot.EncryptionError')

/** Credentials that cannot be decrypted. The message names the endpoint and the remedy. */
export class EncryptionError extends Error {
  readonly [brand] = true
  override readonly name = 'EncryptionError'
}

/** Whether a value is an encryption error, of this copy of the package or of another. */
export const isEncryptionError = (value: unknown): value is EncryptionError =>
  typeof value === 'object' && value !== null && brand in value

export const howGiven = '`encryptionKeys`, FOLKMOOT_ENCRYPTION_KEYS or --encryption-key-file'

/** No plain value begins like this: what does, and cannot be decrypted, is never sent. */
const reserved = 'encrypted:'
/** Scheme 1: AES-256-GCM; the id of the key; then 12 bytes of nonce, the ciphertext and 16 bytes of tag, in base64url. */
const schemeOne = /^encrypted:1:([0-9a-f]{16}):([A-Za-z0-9_-]{39,6000})$/
const nonceLength = 12

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Whether a value is encrypted, or claims to be. */
export const isEncrypted = (value: string): boolean => value.startsWith(reserved)

/** Whether a credential of an endpoint is encrypted. */
export const hasEncrypted = ({ key, secrets, old_keys, old_secrets, headers }: Credentials): boolean =>
  [key, ...secrets, ...[...(old_keys ?? []), ...(old_secrets ?? []), ...(headers ?? [])].map(({ value }) => value)].some(
    isEncrypted,
  )

/** The 32 bytes of an encryption key in base64 or base64url; `undefined` for anything else. */
export const encryptionKeyBytes = (text: unknown): Uint8Array<ArrayBuffer> | undefined =>
  typeof text === 'string' && /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? fromBase64url(text) : undefined

interface RingKey {
  readonly id: string
  readonly key: Awaited<ReturnType<typeof crypto.subtle.importKey>>
}

/**
 * A key ring.
 * @param keys each 32 bytes in base64, the one that encrypts first
 * @throws TypeError that names the malformed key
 */
export function keyRing(keys: readonly string[]): KeyRing {
  const bytes = keys.map((text, index) => {
    const found = encryptionKeyBytes(text)
    if (!found) throw new TypeError(`encryption key ${index + 1} of ${keys.length} ${encryptionKeyRule}`)
    return found
  })
  let loading: Promise<readonly RingKey[]> | undefined
  const load = () => {
    loading ??= Promise.all(bytes.map(ringKey))
    return loading
  }

  /** The plain text, or the reason why it cannot be decrypted. */
  async function decrypted(
    value: string,
    about: Uint8Array<ArrayBuffer>,
  ): Promise<{ readonly text: string } | { readonly problem: string }> {
    const [, id, data] = schemeOne.exec(value) ?? []
    if (id === undefined || data === undefined) return { problem: 'is encrypted in a format unknown to this version; update it' }
    const found = (await load()).find((each) => each.id === id)
    if (!found) return { problem: `is encrypted with the encryption key ${id}, which is missing: add it to ${howGiven}` }
    try {
      const whole = fromBase64url(data) ?? new Uint8Array()
      const [iv, content] = [whole.slice(0, nonceLength), whole.slice(nonceLength)]
      const plain = await crypto.subtle.decrypt({ name: 'AES-GCM', iv, additionalData: about }, found.key, content)
      return { text: decoder.decode(plain) }
    } catch {
      return {
        problem:
          'cannot be decrypted: it is damaged, or was copied from another endpoint; rotate key and secret, and keep no old ones',
      }
    }
  }

  async function encrypted(value: string, about: Uint8Array<ArrayBuffer>): Promise<string> {
    const [first] = await load()
    // Without a key there is nothing to hide.
    if (!first || value === '') return value
    if (isEncrypted(value)) {
      if (schemeOne.exec(value)?.[1] === first.id) return value
      const plain = await decrypted(value, about)
      return 'text' in plain ? encrypted(plain.text, about) : value
    }
    const iv = crypto.getRandomValues(new Uint8Array(nonceLength))
    const content = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: about }, first.key, encoder.encode(value))
    const whole = new Uint8Array([...iv, ...new Uint8Array(content)])
    return `${reserved}1:${first.id}:${toBase64url(whole)}`
  }

  return {
    isEmpty: keys.length === 0,
    seal: async (endpoint) => (keys.length === 0 ? endpoint : mapped(endpoint, encrypted)),
    async open(endpoint) {
      if (!hasEncrypted(endpoint)) return endpoint
      return mapped(endpoint, async (value, about, what) => {
        if (!isEncrypted(value)) return value
        const plain = await decrypted(value, about)
        if ('text' in plain) return plain.text
        const name = what === 'key' ? 'token' : what
        throw new EncryptionError(`the ${name} of endpoint ${endpoint.id} of network ${endpoint.network_id} ${plain.problem}`)
      })
    },
  }
}

export const encryptionKeyRule = 'must be 32 bytes in base64, as `openssl rand -base64 32` makes them'

type Change = (value: string, about: Uint8Array<ArrayBuffer>, what: 'key' | 'secret' | 'header') => Promise<string>

/**
 * The endpoint with every credential changed. Each is bound to its endpoint and its kind: moved anywhere else, it does not decrypt.
 */
async function mapped<E extends Credentials>(endpoint: E, change: Change): Promise<E> {
  const { network_id, id, key, secrets, old_keys, old_secrets, headers } = endpoint
  const of = (what: 'key' | 'secret' | 'header', ...name: readonly string[]) => {
    const about = encoder.encode(JSON.stringify(['folkmoot endpoint', network_id, id, what, ...name]))
    return (value: string) => change(value, about, what)
  }
  const replaced = (what: 'key' | 'secret', old: readonly ReplacedSecret[]) =>
    Promise.all(old.map(async ({ value, until }) => ({ value: await of(what)(value), until })))
  return {
    ...endpoint,
    key: await of('key')(key),
    secrets: await Promise.all(secrets.map(of('secret'))),
    ...(old_keys ? { old_keys: await replaced('key', old_keys) } : {}),
    ...(old_secrets ? { old_secrets: await replaced('secret', old_secrets) } : {}),
    ...(headers
      ? { headers: await Promise.all(headers.map(async ({ name, value }) => ({ name, value: await of('header', name)(value) }))) }
      : {}),
  }
}

/** A key with its id: the first 8 bytes of its SHA-256, in hex. */
async function ringKey(bytes: Uint8Array<ArrayBuffer>): Promise<RingKey> {
  const key = await crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt'])
  return { id: (await sha256(bytes)).slice(0, 16), key }
}
