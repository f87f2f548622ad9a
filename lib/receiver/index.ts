/**
 * `folkmoot/receiver`: checks deliveries of the relay, and of any sender of Standard Webhooks in the envelope of the
 * interface.md, 11. Web standards only, no dependency. Nothing is declared here.
 */
import '../base/supported-runtime.ts'

export type { EventOf, HostEventName, PayloadOf, WebhookEvent, WebhookName } from '../events/catalogue.ts'
export type * from '../events/payload-types.ts'
export { isWebhookError, WebhookError, type WebhookErrorCode } from './errors.ts'
export type { ReceivedEvent, TestEvent } from './event.ts'
export { type Delivery, type ReceiveOptions, receive, respond } from './receive.ts'
export type { RawRequest, WebhookRequest } from './request.ts'
export { type SignOptions, sign } from './sign.ts'
export { type EventStore, memoryStore } from './store.ts'
