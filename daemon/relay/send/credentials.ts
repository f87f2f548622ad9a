/**
 * Tokens and signing secrets of the endpoints in plain text, in memory alone. An endpoint whose credentials cannot be decrypted, or that
 * needs what this version does not know, is sent nothing: its deliveries wait.
 */
import { type Credentials, hasEncrypted, isEncryptionError, type KeyRing, keyRing } from '../../../lib/outbox/encryption.ts'
import { type CredentialName, canSign } from '../../../lib/outbox/endpoint-attributes.ts'
import type { Endpoint } from '../store/endpoint/relay-endpoint.ts'
import { whyUnsupported } from '../store/endpoint/supported.ts'

/** An endpoint whose credentials are in plain text, with every other attribute as it is stored. */
export type OpenEndpoint = Endpoint

export type PlainCredentials = Pick<OpenEndpoint, CredentialName>

/** The endpoint as it is sent to: whole, so that an attribute that is added reaches every attempt. */
export const opened = (endpoint: Endpoint, plain: PlainCredentials): OpenEndpoint => ({ ...endpoint, ...plain })

export type Reading =
  | { readonly kind: 'reading' }
  | { readonly kind: 'read'; readonly plain: PlainCredentials }
  | { readonly kind: 'unreadable'; readonly problem: string }

export interface CredentialsReader<Owner extends { readonly endpoint: Endpoint }> {
  /** Reads the credentials of an endpoint: synchronously where they are in plain text, else soon. */
  read(owner: Owner): void
  /** Decrypts with other keys from now on; what was read is to be read again. */
  rekey(keys: readonly string[]): void
  /**
   * An endpoint with its credentials in plain text.
   * @throws EncryptionError
   */
  open<E extends Credentials>(endpoint: E): Promise<E>
}

/**
 * @param lacking why an endpoint cannot be sent to though its credentials can be read, for a person
 * @param changed called when credentials begin to be read, and with what became of it
 */
export function createCredentialsReader<Owner extends { readonly endpoint: Endpoint }>(
  keys: readonly string[],
  changed: (owner: Owner, reading: Reading) => void,
  lacking: (endpoint: Endpoint) => string | undefined = () => undefined,
): CredentialsReader<Owner> {
  let ring: KeyRing = keyRing(keys)
  /** The last reading of an endpoint, finished or not; results of earlier readings are ignored. */
  const latest = new WeakMap<Owner, { readonly ring: KeyRing; readonly text: string }>()

  return {
    read(owner) {
      const { endpoint } = owner
      const problem = whyUnsupported(endpoint) ?? lacking(endpoint)
      const text = JSON.stringify([credentialsOf(endpoint), problem])
      const before = latest.get(owner)
      if (before?.ring === ring && before.text === text) return
      const reading = { ring, text }
      latest.set(owner, reading)
      if (problem !== undefined) {
        changed(owner, { kind: 'unreadable', problem })
        return
      }
      if (!hasEncrypted(endpoint)) {
        changed(owner, readingOf(endpoint))
        return
      }
      changed(owner, { kind: 'reading' })
      ring.open(endpoint).then(
        (opened) => {
          if (latest.get(owner) === reading) changed(owner, readingOf(opened))
        },
        (error: unknown) => {
          if (latest.get(owner) === reading) changed(owner, { kind: 'unreadable', problem: problemOf(error) })
        },
      )
    },
    rekey(given) {
      ring = keyRing(given)
    },
    open: (endpoint) => ring.open(endpoint),
  }
}

/** Why credentials cannot be read, for the operator. */
export const problemOf = (error: unknown): string =>
  isEncryptionError(error) ? error.message : 'its credentials cannot be decrypted'

/**
 * A secret that cannot sign would make every attempt fail, or sign with an empty key. The check of records does not see what is encrypted,
 * nor what an earlier version has ingested.
 */
function readingOf(endpoint: Endpoint): Reading {
  const secrets = [...endpoint.secrets, ...endpoint.old_secrets.map(({ value }) => value)]
  if (secrets.every(canSign)) return { kind: 'read', plain: credentialsOf(endpoint) }
  return { kind: 'unreadable', problem: 'a signing secret of it cannot sign: rotate its secret, or register the endpoint again' }
}

/** Credentials alone: they outlast a new definition that leaves them as they are. The compiler requires a new one here too. */
const credentialsOf = ({ key, secrets, old_keys, old_secrets, headers }: Endpoint): Pick<Endpoint, CredentialName> => ({
  key,
  secrets,
  old_keys,
  old_secrets,
  headers,
})
