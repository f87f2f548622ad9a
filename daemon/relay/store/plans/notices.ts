/** Notices as webhooks for the host: the same envelope, the same promises as every other event. */
import { randomUUID } from 'node:crypto'
import { uuidAt } from '../../../../lib/base/uuid.ts'
import type { EventRecord } from '../../../../lib/outbox/record.ts'
import { type NoticeType, noticeTypes } from '../../../../lib/outbox/values.ts'
import { wants } from '../../../../lib/outbox/wanted.ts'
import type { Addressed, EndpointIndex } from '../endpoint/endpoint-index.ts'
import type { Endpoint } from '../endpoint/relay-endpoint.ts'
import type { Notice } from '../notice.ts'

/** The event type of each kind of notice for the host. For other kinds it is the reason itself, or they are the operator's. */
const types: Partial<Record<Notice['kind'], NoticeType>> = {
  'endpoint.failing': 'EndpointFailingHook',
  'endpoint.opened': 'EndpointCircuitOpenedHook',
  'endpoint.recovered': 'EndpointRecoveredHook',
  'endpoint.disabling': 'EndpointDisablingHook',
  'endpoint.day': 'EndpointDayHook',
  'endpoint.disabled': 'EndpointDisabledHook',
  'delivery.dead': 'DeliveryExhaustedHook',
  'delivery.damaged': 'DeliveryExhaustedHook',
  'delivery.poisoned': 'DeliveryExhaustedHook',
}

/** Whether the relay itself sends events of this type. */
export const isNoticeType = (type: string): boolean => noticeTypes.some((each) => each === type)

/**
 * The event for a notice, or `undefined` if it is not one for the host.
 * @param now milliseconds of the relay's timeline
 */
function noticeEvent(notice: Notice, now: number): EventRecord | undefined {
  const event_type = types[notice.kind]
  const { network_id, endpoint_id } = notice
  if (event_type === undefined || network_id === null || endpoint_id === null) return undefined
  const head = { event_id: uuidAt(now, randomUUID()), event_timestamp: new Date(now).toISOString(), event_type }
  const payload = { network_id, endpoint_id, event_id: notice.event_id, message: notice.text }
  return {
    kind: 'event',
    audience: 'host',
    network_id,
    ...head,
    subject: `endpoint:${endpoint_id}`,
    body: JSON.stringify({ ...head, payload }),
  }
}

/**
 * The events that notices are, for the endpoints of the host and for those that name their types. Never about such an endpoint to one of
 * them: one that fails would be sent that for ever. The host alone hears of those that name the types.
 */
export function noticeEvents(notices: readonly Notice[], index: EndpointIndex, now: number): readonly Addressed[] {
  return notices.flatMap((notice) => {
    const about = index.get(notice.network_id, notice.endpoint_id)
    const isForOthers = about?.audience === 'integration' && notice.announced !== false
    const record = isForOthers ? noticeEvent(notice, now) : undefined
    if (!about || !record) return []
    const { audience, network_id } = record
    const mayHear = (each: Endpoint) => each.audience === audience || (each.events !== null && !subscribes(about))
    const receivers = index.inNetwork(network_id).filter((each) => mayHear(each) && wants({ ...each, audience }, record))
    return receivers.length > 0 ? [{ record, receivers }] : []
  })
}

const subscribes = ({ events }: Endpoint): boolean => events?.some(isNoticeType) ?? false
