/**
 * The administration of a relay whose changes leave lines of the audit. A relay shares no transaction with the storage. So the
 * audit gets a line before the work, without which nothing is done, and one when the relay has done or begun it.
 */
import type { Work } from '../host/audit/audited-work.ts'
import type { Details } from '../host/audit/details.ts'
import type { EndpointRef, RelayAdmin, ResendRequest } from './relay-admin.ts'

export interface AuditingParts {
  /** Runs work on one network with its lines. @param done its result; `undefined` if nothing was done */
  readonly lined: <T>(work: Work, run: () => Promise<T>, done: (result: T) => Details | undefined) => Promise<T>
  /** The endpoint for a person; `undefined` if there is no such endpoint, so that nothing is done. */
  readonly subjectOf: (endpoint: EndpointRef) => Promise<Work['subject'] | undefined>
}

/** The wishes of a resend, without its network and the person. */
export function resendDetails({ ids, per_second, all: _, actor: __, address: ___, network_id: ____, ...filter }: ResendRequest) {
  return { ...(ids ? { ids } : { filter }), ...(per_second === undefined ? {} : { per_second }) }
}

export function auditedAdmin(admin: RelayAdmin, { lined, subjectOf }: AuditingParts): RelayAdmin {
  async function onEndpoint<T extends object>(
    action: Work['action'],
    ref: EndpointRef,
    run: () => Promise<T | undefined>,
    done: (result: T) => Details,
    details?: Details,
  ): Promise<T | undefined> {
    const subject = await subjectOf(ref)
    if (!subject) return undefined
    const work = { network: ref.network_id, action, subject, ...(details ? { details } : {}) }
    return lined(work, run, (result) => result && done(result))
  }

  /** One delivery, the endpoint of a filter, or the network. */
  async function resentSubject({ ids = [], endpoint_id }: ResendRequest, network_id: string): Promise<Work['subject']> {
    const [only] = ids
    if (only !== undefined && ids.length === 1) return { type: 'delivery', id: only }
    const endpoint = endpoint_id === undefined ? undefined : await subjectOf({ network_id, endpoint_id })
    return endpoint ?? { type: 'network', id: network_id }
  }

  return {
    ...admin,
    async resend(request) {
      const { network_id } = request
      if (network_id === undefined) return admin.resend(request)
      const subject = await resentSubject(request, network_id)
      return lined(
        { network: network_id, action: 'deliveries.resent', subject, details: resendDetails(request) },
        () => admin.resend(request),
        ({ id, of }) => ({ matched: of.count, resend: id }),
      )
    },
    stop(resend) {
      const { network_id, id } = resend
      if (network_id === undefined) return admin.stop(resend)
      const subject = { type: 'network', id: network_id } as const
      return lined(
        { network: network_id, action: 'deliveries.resend_stopped', subject, details: { resend: id } },
        () => admin.stop(resend),
        (stopped) => stopped && { resent: stopped.done },
      )
    },
    skip(request) {
      const { endpoint_id: _, network_id: __, ...filter } = request
      return onEndpoint(
        'deliveries.skipped',
        request,
        () => admin.skip(request),
        (skipped) => ({ ...skipped }),
        { filter },
      )
    },
    test: (ref) =>
      onEndpoint(
        'endpoint.tested',
        ref,
        () => admin.test(ref),
        ({ outcome, status }) => ({ outcome, status }),
        ref.event_type === undefined ? undefined : { event_type: ref.event_type },
      ),
    enable: (ref) =>
      onEndpoint(
        'endpoint.enabled',
        ref,
        () => admin.enable(ref),
        () => ({}),
        { at: 'relay' },
      ),
    disable: (ref) =>
      onEndpoint(
        'endpoint.disabled',
        ref,
        () => admin.disable(ref),
        () => ({}),
        { at: 'relay' },
      ),
    closeCircuit: (ref) =>
      onEndpoint(
        'endpoint.circuit_closed',
        ref,
        () => admin.closeCircuit(ref),
        ({ was }) => ({ was }),
      ),
  }
}
