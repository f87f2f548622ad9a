/** What is known of every event: its payload, its description, its subject and the fields that it may name as changed. */
import type * as v from 'valibot'
import type { Id as IdText } from '../base/ids.ts'
import { declared, declaredForHost, type EventDeclaration, type UpdateDeclaration } from './declared.ts'
import type { Payloads } from './payload-types.ts'

const declaredEvents = { ...declared, ...declaredForHost }

const payloadsOf = <const D extends Readonly<Record<string, EventDeclaration>>>(events: D) =>
  Object.fromEntries(Object.entries(events).map(([name, { payload }]) => [name, payload])) as {
    readonly [Name in keyof D]: D[Name]['payload']
  }

/** Every event of the interface and its payload. */
export const catalogue = payloadsOf(declared)

/** Every event for the host alone and its payload. */
export const hostCatalogue = payloadsOf(declaredForHost)

/** An event for integrations, without the `Hook` that it ends in on the wire. interface.md, 10.2. */
export type WebhookName = keyof typeof catalogue
/** An event for the host alone, such as mail to send. */
export type HostEventName = keyof typeof hostCatalogue
/** Any event, without the `Hook` that it ends in on the wire. */
export type EventName = WebhookName | HostEventName

/** The event of an update, which is emitted with the record before and after. */
export type UpdateName = {
  [Name in keyof typeof declared]: (typeof declared)[Name] extends UpdateDeclaration ? Name : never
}[keyof typeof declared]

/** The payload that `emit` takes for an event. */
export type PayloadOf<Name extends EventName> = Payloads[Name]

/** An event as a receiver gets it, by its name without `Hook`. */
export interface EventOf<Name extends EventName> {
  /** The same on every attempt; receivers de-duplicate by it. */
  readonly event_id: string
  /** The event's name with `Hook`, as on the wire: `PostCreatedHook`. */
  readonly event_type: `${Name}Hook`
  /** ISO 8601, UTC. */
  readonly event_timestamp: string
  /** The record that the event carries (interface.md, 10.3). */
  readonly payload: PayloadOf<Name>
}

/** Any event of the interface. Compare `event_type`, and TypeScript narrows `payload`. */
export type WebhookEvent = { [Name in WebhookName]: EventOf<Name> }[WebhookName]

/** A committed event, as hooks see it. Compare `event_type`, and TypeScript narrows `payload`. */
export type CommittedEvent = {
  [Name in EventName]: EventOf<Name> & {
    /** The network that the event is from. */
    readonly network_id: IdText
  }
}[EventName]

const everything = { ...catalogue, ...hostCatalogue }

export function payloadSchema(name: EventName): v.GenericSchema {
  return everything[name]
}

/** What causes an event and what it is good for, in a sentence. */
export function eventDescription(name: EventName): string {
  return declaredEvents[name].description
}

/**
 * The subject of an event, or undefined when its payload does not name one.
 * @param event_type the name of the event, with or without its suffix `Hook`
 * @param payload as it goes over the wire
 */
export function subjectOf(event_type: string, payload: unknown): string | undefined {
  const name = unsuffixed(event_type)
  const subject = isIn(declaredEvents, name) ? declaredEvents[name].subject(payload) : undefined
  return subject !== undefined && subject.length <= 200 ? subject : undefined
}

/** The names of the fields that an event may name as changed, without those that say when; none if it is no update of the API. */
export function fieldsOfUpdate(name: EventName): readonly string[] {
  const declaration: EventDeclaration & Partial<UpdateDeclaration> = declaredEvents[name]
  return declaration.fields ?? []
}

/** Every field that some event may name as changed. */
export const changeableFields: readonly string[] = [
  ...new Set(Object.values<EventDeclaration & Partial<UpdateDeclaration>>(declared).flatMap(({ fields = [] }) => fields)),
]

/** Whether an event is for the host's own endpoint alone. */
export const isForHost = (name: string): name is HostEventName => Object.hasOwn(hostCatalogue, name)

const unsuffixed = (text: string): string => text.replace(/Hook$/, '')
const isIn = <C extends object>(names: C, name: string): name is keyof C & string => Object.hasOwn(names, name)

/** The event of the interface that a text names, with or without its suffix `Hook`. */
export function webhookName(text: string): WebhookName | undefined {
  const name = unsuffixed(text)
  return isIn(catalogue, name) ? name : undefined
}

/** The event for the host that a text names, with or without its suffix `Hook`. */
export function hostEventName(text: string): HostEventName | undefined {
  const name = unsuffixed(text)
  return isIn(hostCatalogue, name) ? name : undefined
}
