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

/** A message of the relay to a person: in its log and panel, and by webhook to the host. */
export interface Notice {
  /** What happened, such as `endpoint.disabled` or `delivery.dead`. */
  readonly kind: (typeof noticeKinds)[number]
  /** The network that it is about; null if it is about the relay itself. */
  readonly network_id: string | null
  /** The endpoint that it is about; null if it is about none. */
  readonly endpoint_id: string | null
  /** The event that it is about; null if it is about none. */
  readonly event_id: string | null
  /** The message itself, in plain words and without secrets. */
  readonly text: string
  /** False: the host is not notified, because it got one like it within the hour. */
  readonly announced?: false
}
