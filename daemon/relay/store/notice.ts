/** Notices: messages of the relay to a person, in its log and panel, and to a host, by webhook (`plans/notices.ts`). */
export const noticeKinds = [
  'endpoint.failing',
  'endpoint.opened',
  'endpoint.recovered',
  'endpoint.disabling',
  'endpoint.day',
  'endpoint.disabled',
  'endpoint.removed',
  'endpoint.unreadable',
  'endpoint.readable',
  'proxy.failed',
  'proxy.recovered',
  'delivery.dead',
  'delivery.damaged',
  'delivery.poisoned',
  'outbox.damaged',
  'operator.closed_circuit',
  'operator.skipped',
] as const

export interface Notice {
  readonly kind: (typeof noticeKinds)[number]
  readonly network_id: string | null
  readonly endpoint_id: string | null
  readonly event_id: string | null
  readonly text: string
  /** False: the host does not hear of it, because it heard of one like it within the hour. */
  readonly announced?: false
}
