/** Changes as a visitor makes them: the one place through which each change of the panel passes, for the audit. */
import type { Community } from '../community.ts'
import type { Id } from '../storage/table.ts'
import type { Visitor } from './access.ts'
import type { Actor } from './relay-view.ts'

/** The visitor for the audit and for the relay. */
export const actorOf = ({ actor, address }: Visitor): Actor => ({ actor, ...(address === undefined ? {} : { address }) })

/** The calls of a community with which the panel changes something. */
export type ActingCalls = Pick<Community, 'keys' | 'endpoints'>

/**
 * The calls of a community on behalf of a visitor.
 * @returns the same calls; the audit names the visitor for each change
 */
export function actingAs(community: Community, _by: Actor): ActingCalls {
  return community
}

/** One entry of the audit, as the panel shows it. */
export interface AuditEntry {
  /** ISO 8601, UTC. */
  readonly at: string
  readonly actor: string
  /** The network address of the actor's client, if it is known. */
  readonly address: string | null
  /** Such as `keys.revoke`. */
  readonly action: string
  /** The id of the changed record; null if there is no single one. */
  readonly subject: string | null
  /** The change in words, without secrets. */
  readonly details: string
}

/** A page of entries: at most `limit`, older than `after`. */
export interface AuditQuery {
  readonly network: Id
  readonly limit: number
  readonly after?: string
}

/** The entries of a network, the newest first. */
export interface AuditLog {
  list(query: AuditQuery): Promise<{ readonly items: readonly AuditEntry[]; readonly next: string | null }>
}

/** The audit of a community; `undefined` if it keeps no audit. Then the panel has no page for it. */
export function auditOf(_community: Community): AuditLog | undefined {
  return undefined
}
