/** Changes that the control is asked for, each with its lines of the audit. */
import type { IncomingMessage } from 'node:http'
import type { Work } from '../../../../lib/host/audit/audited-work.ts'
import { auditedHeader } from '../../../../lib/relay/control-client.ts'
import type { RelayView, TestAnswer } from '../../../../lib/relay/relay-view.ts'
import type { Relay } from '../../relay.ts'
import type { Endpoint } from '../../store/endpoint/relay-endpoint.ts'
import { type Asker, audited, subjectOf } from '../tasks/trail.ts'
import { endpointIn, pausedByPerson, testThrough } from '../view/running-endpoint.ts'

/** The header that names the person for the audit. */
const actorHeader = 'folkmoot-actor'

/**
 * The person behind a request, for the audit: `control:ada`. A caller that leaves the lines by itself is null.
 */
export function actorOf({ headers }: Pick<IncomingMessage, 'headers'>): string | null {
  if (headers[auditedHeader] !== undefined) return null
  const given = String(headers[actorHeader] ?? '').trim()
  return `control:${/^[\x20-\x7e]{1,100}$/.test(given) ? given : 'operator'}`
}

/** Sends a test event to an endpoint. */
export const testAudited = (relay: Relay, endpoint: Endpoint, asker: Asker): Promise<TestAnswer> =>
  audited(asker, [{ network: endpoint.network_id, action: 'endpoint.tested', subject: subjectOf(endpoint) }], {
    run: () => testThrough(relay, endpoint),
    done: ({ outcome, status }) => ({ outcome, status }),
  })

/** Sends to an endpoint again, or nothing more. */
export function switchAudited(relay: Relay, endpoint: Endpoint, wanted: 'enable' | 'disable', asker: Asker): Promise<void> {
  const { network_id: network, ref } = endpoint
  const work: Work = { network, action: `endpoint.${wanted}d`, subject: subjectOf(endpoint), details: { at: 'relay' } }
  return audited(asker, [work], {
    run: () => (wanted === 'enable' ? relay.enable(ref) : relay.disable(ref, pausedByPerson)),
    done: () => ({}),
  })
}

/** The view of a relay whose resends in the background leave lines. */
export function auditedResends(view: RelayView, relay: Relay, asker: Asker): RelayView {
  async function resentSubject(network: string, id: string | undefined): Promise<Work['subject']> {
    const endpoint = id === undefined ? undefined : await endpointIn(relay, network, id)
    return endpoint ? subjectOf(endpoint) : { type: 'network', id: network }
  }
  return {
    ...view,
    async replay(network, selection, options) {
      const subject = await resentSubject(network, 'filter' in selection ? selection.filter.endpoint_id : undefined)
      const details = { ...selection, per_second: options.perSecond }
      return audited(asker, [{ network, action: 'deliveries.resent', subject, details }], {
        run: () => view.replay(network, selection, options),
        done: ({ id, of }) => ({ matched: of.count, resend: id }),
      })
    },
    stopReplay(network, id) {
      const subject = { type: 'network', id: network } as const
      return audited(asker, [{ network, action: 'deliveries.resend_stopped', subject, details: { resend: id } }], {
        run: () => view.stopReplay(network, id),
        done: (stopped) => stopped && { resent: stopped.done },
      })
    },
  }
}
