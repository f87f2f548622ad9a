/**
 * Keys and signing secrets of the endpoints in plain text, in memory alone. An endpoint whose credentials cannot be decrypted
 * is sent nothing: its deliveries wait.
 */
import { type Credentials, hasEncrypted, isEncryptionError, type KeyRing, keyRing } from '../../../lib/outbox/encryption.ts'
import type { EndpointRun } from '../schedule/endpoint.ts'
import type { Attempt } from './sender.ts'

/** What an attempt sends. */
export type PlainCredentials = Omit<Attempt['endpoint'], 'ref' | 'url'>

export interface CredentialsReader {
  /** Reads the credentials of an endpoint: at once where they are in plain text, else soon. */
  read(run: EndpointRun): void
  /** Decrypts with other keys from now on; what was read is to be read again. */
  rekey(keys: readonly string[]): void
  /**
   * An endpoint with its credentials in plain text.
   * @throws EncryptionError
   */
  open<E extends Credentials>(endpoint: E): Promise<E>
}

/**
 * @param keys the encryption keys
 * @param told what became of reading: nothing, or a sentence that says why the credentials cannot be read
 */
export function createCredentialsReader(
  keys: readonly string[],
  told: (run: EndpointRun, problem: string | null) => void,
): CredentialsReader {
  let ring: KeyRing = keyRing(keys)
  /** What was read of an endpoint last, or is being read: what comes of anything earlier is of no interest. */
  const latest = new WeakMap<EndpointRun, { readonly ring: KeyRing; readonly text: string }>()

  return {
    read(run) {
      const { endpoint } = run
      const text = JSON.stringify([endpoint.key, endpoint.secrets, endpoint.old_keys, endpoint.old_secrets])
      const before = latest.get(run)
      if (before?.ring === ring && before.text === text) return
      const reading = { ring, text }
      latest.set(run, reading)
      if (!hasEncrypted(endpoint)) {
        run.credentials = plainOf(endpoint)
        return told(run, null)
      }
      run.credentials = undefined
      ring.open(endpoint).then(
        (opened) => {
          if (latest.get(run) !== reading) return
          run.credentials = plainOf(opened)
          told(run, null)
        },
        (error: unknown) => {
          if (latest.get(run) === reading) told(run, problemOf(error))
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

const plainOf = ({ key, secrets, old_keys, old_secrets }: EndpointRun['endpoint']): PlainCredentials => ({
  key,
  secrets,
  old_keys,
  old_secrets,
})
