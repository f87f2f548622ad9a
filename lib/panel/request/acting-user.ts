/** Changes as a visitor makes them: the one place through which each change of the panel passes, for the audit. */
import { systemChance } from '../../base/chance.ts'
import type { Community, HostCalls } from '../../community.ts'
import { ApiError, isApiError } from '../../errors.ts'
import type { RelayRecord } from '../../host/audit/audit.ts'
import { type Work, withLines } from '../../host/audit/audited-work.ts'
import type { Details } from '../../host/audit/details.ts'
import type { AuditSubject } from '../../host/audit/line.ts'
import type { Actor, RelayView, ReplaySelection } from '../../relay/relay-view.ts'
import type { Id } from '../../storage/table.ts'
import type { Visitor } from './access.ts'

/** The visitor for the audit and for the relay. */
export const actorOf = ({ actor, address }: Visitor): Actor => ({ actor, ...(address === undefined ? {} : { address }) })

/** The calls of a community with which the panel changes something. */
export type ActingCalls = Pick<HostCalls, 'keys' | 'endpoints' | 'members' | 'audit'>

/** The calls of a community on behalf of a visitor, whom the audit names for each change. */
export const actingAs = (community: Pick<Community, 'by'>, by: Actor): ActingCalls => community.by(by)

type Subject = Pick<AuditSubject, 'type' | 'id'> & { readonly name?: string }

/**
 * The relay on behalf of a visitor. A relay shares no transaction with the storage. So the audit gets a line before the work,
 * without which nothing is done, and one when the relay has done or begun it.
 */
export function auditedRelay(relay: RelayView, { audit, endpoints }: ActingCalls): RelayView {
  async function subjectOf(network: Id, endpoint: Id): Promise<Subject> {
    const found = await endpoints.find(network, endpoint)
    return { type: 'endpoint', id: endpoint, ...(found ? { name: found.name ?? new URL(found.url).host } : {}) }
  }
  // A fault of the storage must not look like one of the relay.
  const record = (entry: RelayRecord): Promise<void> =>
    audit.record(entry).catch((error: unknown) => {
      if (isApiError(error)) throw error
      throw Object.assign(new ApiError(503, { error: 'The audit cannot be written.' }), { cause: error })
    })
  const lined = <T>(work: Work, run: () => Promise<T>, done: (result: T) => Details | undefined): Promise<T> =>
    withLines([work], { record, chance: systemChance, run, done })
  async function switched(network: Id, endpoint: Id, wanted: 'enable' | 'disable'): Promise<boolean> {
    const subject = await subjectOf(network, endpoint)
    const work = { network, action: `endpoint.${wanted}d`, subject, details: { at: 'relay' } } as const
    return lined(
      work,
      () => relay[wanted](network, endpoint),
      (done) => (done ? {} : undefined),
    )
  }
  return {
    status: (network) => relay.status(network),
    activity: (network, minutes) => relay.activity(network, minutes),
    deliveries: (network, filter, paging) => relay.deliveries(network, filter, paging),
    count: (network, filter) => relay.count(network, filter),
    delivery: (network, id) => relay.delivery(network, id),
    replayed: (network, id) => relay.replayed(network, id),
    async replay(network, selection, options) {
      const subject = await resentSubject(network, selection, subjectOf)
      const details = { ...selection, per_second: options.perSecond }
      return lined(
        { network, action: 'deliveries.resent', subject, details },
        () => relay.replay(network, selection, options),
        ({ id, of }) => ({ matched: of.count, resend: id }),
      )
    },
    stopReplay(network, id) {
      const subject = { type: 'network', id: network } as const
      return lined(
        { network, action: 'deliveries.resend_stopped', subject, details: { resend: id } },
        () => relay.stopReplay(network, id),
        (stopped) => stopped && { resent: stopped.done },
      )
    },
    async test(network, endpoint) {
      const subject = await subjectOf(network, endpoint)
      return lined(
        { network, action: 'endpoint.tested', subject },
        () => relay.test(network, endpoint),
        (answer) => answer && { outcome: answer.outcome, status: answer.status },
      )
    },
    enable: (network, endpoint) => switched(network, endpoint, 'enable'),
    disable: (network, endpoint) => switched(network, endpoint, 'disable'),
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
