/** The values of attributes that are one of a few words. They load without a schema, so that help comes without delay. */

/** For whom an event is: `integration` for the webhooks of the interface, `host` for the host application alone (mail to send). */
export const audiences = ['integration', 'host'] as const
export type Audience = (typeof audiences)[number]

/** `fifo`: the oldest event first, and never two in parallel. `subject`: the same for the events about one subject. */
export const orders = ['none', 'fifo', 'subject'] as const

/** What an endpoint is sent: the event, signed, or a message as a chat takes it. */
export const formats = ['standard', 'slack', 'teams', 'discord'] as const
export type Format = (typeof formats)[number]

/** The events that a relay itself sends about endpoints, as on the wire. */
export const noticeTypes = [
  'EndpointFailingHook',
  'EndpointCircuitOpenedHook',
  'EndpointRecoveredHook',
  'EndpointDisablingHook',
  'EndpointDayHook',
  'EndpointDisabledHook',
  'DeliveryExhaustedHook',
] as const
export type NoticeType = (typeof noticeTypes)[number]
