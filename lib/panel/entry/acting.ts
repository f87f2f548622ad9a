/** Changes as a visitor makes them: the one place through which each change of the panel passes, for the audit. */
import type { Community, HostCalls } from '../../community.ts'
import type { AuditSubject } from '../../host/audit/line.ts'
import type { Id } from '../../storage/table.ts'
import type { Actor, RelayView, ReplaySelection } from '../relay/relay-view.ts'
import type { Visitor } from './access.ts'

/** The visitor for the audit and for the relay. */
export const actorOf = ({ actor, address }: Visitor): Actor => ({ actor, ...(address === undefined ? {} : { address }) })

/** The calls of a community with which the panel changes something. */
export type ActingCalls = Pick<HostCalls, 'keys' | 'endpoints' | 'audit'>

/** The calls of a community on behalf of a visitor, whom the audit names for each change. */
export const actingAs = (community: Pick<Community, 'by'>, by: Actor): ActingCalls => community.by(by)

type Subject = Pick<AuditSubject, 'type' | 'id'> & { readonly name?: string }

/**
 * The relay on behalf of a visitor. It adds a line to the audit when the relay has done or begun what was asked. A relay shares
 * no transaction with the storage, so a failure in between leaves the work without its line, and is reported.
 */
export function auditedRelay(relay: RelayView, { audit, endpoints }: ActingCalls): RelayView {
  async function subjectOf(network: Id, endpoint: Id): Promise<Subject> {
    const found = await endpoints.find(network, endpoint)
    return { type: 'endpoint', id: endpoint, ...(found ? { name: found.name ?? new URL(found.url).host } : {}) }
  }
  const switched = async (network: Id, endpoint: Id, action: 'endpoint.enabled' | 'endpoint.disabled', done: boolean) => {
    const subject = await subjectOf(network, endpoint)
    if (done) await audit.record({ network, action, subject, details: { at: 'relay' } })
    return done
  }
  return {
    status: (network) => relay.status(network),
    activity: (network, minutes) => relay.activity(network, minutes),
    deliveries: (network, filter, paging) => relay.deliveries(network, filter, paging),
    count: (network, filter) => relay.count(network, filter),
    delivery: (network, id) => relay.delivery(network, id),
    replayed: (network, id) => relay.replayed(network, id),
    async replay(network, selection, options) {
      const started = await relay.replay(network, selection, options)
      const subject = await resentSubject(network, selection, subjectOf)
      const details = { ...selection, matched: started.of.count, per_second: options.perSecond, resend: started.id }
      await audit.record({ network, action: 'deliveries.resent', subject, details })
      return started
    },
    async stopReplay(network, id) {
      const stopped = await relay.stopReplay(network, id)
      const details = { resend: id, resent: stopped?.done ?? null }
      if (stopped)
        await audit.record({ network, action: 'deliveries.resend_stopped', subject: { type: 'network', id: network }, details })
      return stopped
    },
    async test(network, endpoint) {
      const answer = await relay.test(network, endpoint)
      if (!answer) return undefined
      const { outcome, status } = answer
      const subject = await subjectOf(network, endpoint)
      await audit.record({ network, action: 'endpoint.tested', subject, details: { outcome, status } })
      return answer
    },
    enable: async (network, endpoint) => switched(network, endpoint, 'endpoint.enabled', await relay.enable(network, endpoint)),
    disable: async (network, endpoint) =>
      switched(network, endpoint, 'endpoint.disabled', await relay.disable(network, endpoint)),
  }
}

/** One delivery, the endpoint of a filter, or the network. */
async function resentSubject(
  network: Id,
  selection: ReplaySelection,
  subjectOf: (network: Id, endpoint: Id) => Promise<Subject>,
): Promise<Subject> {
  if ('ids' in selection) {
    const [only] = selection.ids
    return only !== undefined && selection.ids.length === 1 ? { type: 'delivery', id: only } : { type: 'network', id: network }
  }
  const { endpoint_id } = selection.filter
  return endpoint_id === undefined ? { type: 'network', id: network } : subjectOf(network, endpoint_id)
}
