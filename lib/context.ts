import type { Limits } from './limits.ts'
import type { Ports } from './ports.ts'
import type { ScopedTx } from './storage/scoped.ts'
import type { Id } from './storage/table.ts'
import type { NetworkRow } from './storage/tables/administration.ts'

/** The caller of the request. */
export interface Principal {
  /** The API key's id; null when the host itself calls. */
  readonly key_id: Id | null
  /** The member who acts: author of posts, owner of reactions. */
  readonly member_id: Id
  /** What the key may do: `members:read`, `*:read`, `*`, … */
  readonly scopes: readonly string[]
}

/** The part of a handler's context that every operation has. */
export interface Context {
  /** The one door to data, bound to the network. */
  readonly tx: ScopedTx
  /** The network of the request. */
  readonly network: NetworkRow
  /** The caller: the API key, its scopes, and the member it acts for. */
  readonly principal: Principal
  /** The time of the request, as a timestamp. */
  readonly now: string
  /** A new id. */
  newId(): Id
  /** `id`, `created_at` and `updated_at` of a new row. */
  stamp(): { readonly id: Id; readonly created_at: string; readonly updated_at: string }
  /** `updated_at` of a changed row. */
  touch(): { readonly updated_at: string }
  /** The public address of a record's page. */
  permalink(kind: PermalinkKind, id: Id): string
  /** The host's ports for files, recurrence rules and phone numbers. */
  readonly ports: Ports
  /** The community's limits, for what a schema alone cannot check. */
  readonly limits: Limits
  /** Whether a new member has consented to commercial e-mail by default. */
  readonly newMembersConsent: boolean
}

export type PermalinkKind = 'members' | 'posts' | 'comments' | 'plans' | 'courseworks' | 'events'
