/** Changes as a visitor makes them: the one place through which each change of the panel passes, for the audit. */
import { systemChance } from '../../base/chance.ts'
import type { Community, HostCalls } from '../../community.ts'
import { ApiError, isApiError } from '../../errors.ts'
import type { RelayRecord } from '../../host/audit/audit.ts'
import { withLines } from '../../host/audit/audited-work.ts'
import { auditedAdmin } from '../../relay/audited-admin.ts'
import type { Actor, RelayAdmin } from '../../relay/relay-admin.ts'
import type { Visitor } from './access.ts'

/** The visitor for the audit and for the relay. */
export const actorOf = ({ actor, address }: Visitor): Actor => ({ actor, ...(address === undefined ? {} : { address }) })

/** The calls of a community with which the panel changes something. */
export type ActingCalls = Pick<HostCalls, 'networks' | 'keys' | 'endpoints' | 'members' | 'tags' | 'reports' | 'call' | 'audit'>

/** The calls of a community on behalf of a visitor, whom the audit names for each change. */
export const actingAs = (community: Pick<Community, 'by'>, by: Actor): ActingCalls => community.by(by)

export function auditedRelay(relay: RelayAdmin, { audit, endpoints }: ActingCalls): RelayAdmin {
  // A fault of the storage must not look like one of the relay.
  const record = (entry: RelayRecord): Promise<void> =>
    audit.record(entry).catch((error: unknown) => {
      if (isApiError(error)) throw error
      throw Object.assign(new ApiError(503, { error: 'The audit cannot be written.' }), { cause: error })
    })
  return auditedAdmin(relay, {
    lined: (work, run, done) => withLines([work], { record, chance: systemChance, run, done }),
    async subjectOf({ network_id, endpoint_id }) {
      const found = await endpoints.find(network_id, endpoint_id)
      return { type: 'endpoint', id: endpoint_id, ...(found ? { name: found.name ?? new URL(found.url).host } : {}) }
    },
  })
}
