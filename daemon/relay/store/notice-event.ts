/** Notices as webhooks for the host: the same envelope, the same promises as any other event. */
import { randomUUID } from 'node:crypto'
import type { EventRecord } from '../../../lib/outbox/record.ts'
import type { Notice } from './store.ts'

/** The event type of each kind of notice that the host is told; of the other kinds it is the reason itself, or they are the operator's. */
const types: Partial<Record<Notice['kind'], string>> = {
  'endpoint.failing': 'EndpointFailingHook',
  'endpoint.opened': 'EndpointCircuitOpenedHook',
  'endpoint.recovered': 'EndpointRecoveredHook',
  'endpoint.disabled': 'EndpointDisabledHook',
  'delivery.dead': 'DeliveryExhaustedHook',
  'delivery.damaged': 'DeliveryExhaustedHook',
  'delivery.poisoned': 'DeliveryExhaustedHook',
}

/** Whether the relay itself sends events of this type. */
export const isNoticeType = (type: string): boolean => Object.values(types).includes(type)

/**
 * The event that tells a notice, or `undefined` when it is not one for the host.
 * @param now milliseconds of the relay's timeline
 */
export function noticeEvent(notice: Notice, now: number): EventRecord | undefined {
  const event_type = types[notice.kind]
  const { network_id, endpoint_id } = notice
  if (event_type === undefined || network_id === null || endpoint_id === null) return undefined
  const head = { event_id: randomUUID(), event_timestamp: new Date(now).toISOString(), event_type }
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
