/** A webhook endpoint as the host gives it, and as it is shown. */
import type { AttributeChanges, CredentialName } from '../outbox/endpoint-attributes.ts'
import type { Format } from '../outbox/values.ts'
import type { Id } from '../storage/table.ts'
import type { EndpointRow } from '../storage/tables/administration.ts'

/** The changes of a webhook endpoint (interface.md, 11.1). Omitted fields stay as they are. */
export interface EndpointChanges extends AttributeChanges {
  /**
   * Sent as `Authorization: Bearer <key>` (interface.md, 11.2). `true`: made here, unless there is one. `null`: none, so that
   * `headers` may have an `Authorization` of their own, such as one of basic authentication.
   */
  readonly key?: string | true | null
  /**
   * Signing secrets (`whsec_…`), newest first; null or none: unsigned. `true`: one is made here, unless there is one.
   * `'ed25519'`: a pair is made, unless there is one. Its private key (`whsk_…`) signs, and its public key is in `public_keys`.
   */
  readonly secrets?: readonly string[] | null | true | 'ed25519'
  /** Headers of every delivery, by name: all of them; null or none: no header. */
  readonly headers?: Readonly<Record<string, string>> | null
  /** Event types that it wants, with or without `Hook`; null or none of them: every one. */
  readonly events?: readonly string[] | null
}

/** A new webhook endpoint, or new values of the one with this URL. */
export interface NewEndpoint extends EndpointChanges {
  /** The network, by id or subdomain. */
  readonly network: Id | number
  /** Where the relay posts events. An absolute URL; a second call with the same URL changes that endpoint. */
  readonly url: string
}

/** A webhook endpoint as it stands, without its key and secrets. */
export interface Endpoint extends Omit<EndpointRow, CredentialName | 'public_keys' | 'format'> {
  /** Where the relay posts events. Of a chat channel only the server is shown, as `https://hooks.slack.com/***`. */
  readonly url: string
  /** What it is sent: `standard` for the event itself, or a message for a chat channel. */
  readonly format: Format
  /** Whether deliveries have a signature, so that receivers can check who sent them. */
  readonly signed: boolean
  /** For receivers: the public keys (`whpk_…`) of its private ones, newest first. */
  readonly public_keys: readonly string[]
  /** The names of the headers that every delivery has as well. */
  readonly header_names: readonly string[]
  /** The end of the replaced key's validity; null: no replaced key. */
  readonly old_key_until: string | null
  /** The end of the replaced secret's validity; null: no replaced secret. */
  readonly old_secret_until: string | null
}

/** An endpoint with what its receiver must know. */
export interface RegisteredEndpoint extends Endpoint {
  /** `null`: it gets none. */
  readonly key: string | null
  /** The signing secrets (`whsec_…`), newest first; none if deliveries are not signed. */
  readonly secrets: readonly string[]
}

/** The parts to replace, and how long the old ones stay valid, in seconds. */
export interface EndpointRotation {
  /** The new key, or `true` for one that is made here. */
  readonly key?: true | string
  /** The new signing secret. `true`: one is made here, of the kind of the present one; `'ed25519'`: a pair is made. */
  readonly secret?: true | 'ed25519' | string
  /** How long the old ones hold, in seconds; 86,400 by default, 0 ends them immediately, older ones included. */
  readonly keepOldSeconds?: number
}

/** An endpoint after a rotation, with its new credentials; they are shown here once. */
export interface RotatedEndpoint {
  /** Its new state, with the time until which the old credentials stay valid. */
  readonly endpoint: Endpoint
  /** The new key; left out if it was not rotated. */
  readonly key?: string
  /** The new signing secret; left out if it was not rotated. */
  readonly secret?: string
}
