/** A webhook endpoint as the host gives it, and as it is shown. */
import type { AttributeChanges, CredentialName } from '../../outbox/endpoint-attributes.ts'
import type { Format } from '../../outbox/values.ts'
import type { Id } from '../../storage/table.ts'
import type { EndpointRow } from '../../storage/tables/administration.ts'

/** The changes of a webhook endpoint (interface.md, 11.1). Omitted fields stay as they are. */
export interface EndpointChanges extends AttributeChanges {
  /**
   * Sent as `Authorization: Bearer <token>` (interface.md, 11.2). `true`: made here, unless there is one. `null`: none, so that
   * `headers` may have an `Authorization` of their own, such as one of basic authentication.
   */
  readonly token?: string | true | null
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

/** A webhook endpoint as it stands, without its token and secrets. */
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
  /** The end of the replaced token's validity; null: no replaced token. */
  readonly old_token_until: string | null
  /** The end of the replaced secrets' validity; null: no replaced secret. */
  readonly old_secrets_until: string | null
}

/** An endpoint, with the credentials that the call has made; `reveal` shows them again. */
export interface RegisteredEndpoint extends Endpoint {
  /** The token, if this call has made it. */
  readonly token?: string
  /** The signing secrets, if this call has made them. */
  readonly secrets?: readonly string[]
}

/** What the receiver of an endpoint must know, in plain text: the options of `receive` and `respond`. */
export interface EndpointCredentials {
  /** `null`: it gets none. */
  readonly token: string | null
  /** The signing secrets (`whsec_…`, of a pair `whsk_…`), newest first; none if deliveries are not signed. */
  readonly secrets: readonly string[]
}

/** The parts to replace, and how long the old ones stay valid, in seconds. */
export interface EndpointRotation {
  /** The new token, or `true` for one that is made here. */
  readonly token?: true | string
  /** The new signing secrets. `true`: one is made here, of the kind of the present one; `'ed25519'`: a pair is made. */
  readonly secrets?: true | 'ed25519' | readonly string[]
  /** How long the old ones hold, in seconds; 86,400 by default, 0 ends them immediately, older ones included. */
  readonly keepOldSeconds?: number
}

/** An endpoint after a rotation, with its new credentials; they are shown here once. */
export interface RotatedEndpoint {
  /** Its new state, with the time until which the old credentials stay valid. */
  readonly endpoint: Endpoint
  /** The new token; left out if it was not rotated. */
  readonly token?: string
  /** The new signing secrets; left out if they were not rotated. */
  readonly secrets?: readonly string[]
}
