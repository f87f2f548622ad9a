/** The event in a body (interface.md, 10.2). */
import type { EventName, EventOf } from '../events/catalogue.ts'
import { WebhookError } from './errors.ts'

/** The relay's test of an endpoint. */
export interface TestEvent {
  /** The same on every attempt; receivers de-duplicate by it. */
  readonly event_id: string
  /** Distinguishes it from every real event. */
  readonly event_type: 'TestHook'
  /** When the test was made. ISO 8601, UTC. */
  readonly event_timestamp: string
  /** A sentence for a person, and nothing else. */
  readonly payload: { readonly message: string }
}

/**
 * An event as it was received. Compare `event_type`, and TypeScript narrows `payload`: the kinds for integrations, those for
 * hosts, and the relay's test. A later version may send types that are missing here: leave them to a `default`.
 */
export type ReceivedEvent = ({ [Name in EventName]: EventOf<Name> }[EventName] | TestEvent) & {
  /** Of an update, the names of the public fields that changed, as the header says: it isn't signed. Missing: not known. */
  readonly changed?: readonly string[]
}

const longestId = 255
const longestType = 100

const isText = (value: unknown, most: number): boolean => typeof value === 'string' && value !== '' && value.length <= most
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * The event in a verified body. Its envelope is checked; its payload has the form that the sender gave it.
 * @param changed the header with the names of the changed fields
 * @throws WebhookError `body_invalid`
 */
export function parseEvent(raw: Uint8Array, changed: string | undefined): ReceivedEvent {
  const event = parsed(raw)
  if (!isObject(event)) throw new WebhookError('body_invalid', 'The body is not a JSON object.')
  const rules = {
    event_id: [isText(event['event_id'], longestId), `a text of 1 to ${longestId} characters`],
    event_type: [isText(event['event_type'], longestType), `a text of 1 to ${longestType} characters`],
    event_timestamp: [isText(event['event_timestamp'], longestType), 'a timestamp'],
    payload: [isObject(event['payload']), 'an object'],
  } as const
  const wrong = Object.entries(rules).flatMap(([name, [isRight, rule]]) => (isRight ? [] : [`${name} must be ${rule}`]))
  if (wrong.length > 0) throw new WebhookError('body_invalid', `The body is not an event: ${wrong.join(', ')}.`)
  // The sender writes payloads by the same declarations as these types.
  const received = event as unknown as ReceivedEvent
  const names = changed?.match(/\w+/g)
  return names ? { ...received, changed: names } : received
}

function parsed(raw: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw))
  } catch (cause) {
    throw new WebhookError('body_invalid', 'The body is not JSON in UTF-8.', { cause })
  }
}
