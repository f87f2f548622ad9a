/** The relay's states and outcomes in the words of the panel. */
import type { DeliveryRow, DeliveryState, EndpointActivity } from '../../relay/relay-admin.ts'

export const stateWords: Readonly<Record<DeliveryState, string>> = {
  pending: 'Waiting',
  delivered: 'Delivered',
  dead: 'Failed',
  skipped: 'Skipped',
}

export const activityWords: Readonly<Record<EndpointActivity, string>> = {
  delivering: 'Delivering',
  paused: 'Paused',
  'circuit open': 'On hold: keeps failing',
  probing: 'Trying again',
  disabled: 'Disabled',
  unreadable: 'Unreadable',
  'set aside': 'Set aside',
}

/** The outcomes of attempts, in the order of a filter. */
export const outcomeWords: Readonly<Record<string, string>> = {
  delivered: 'Delivered',
  status: 'Error response',
  redirect: 'Redirect',
  timeout: 'No response in time',
  dns: 'Host name not found',
  refused: 'Connection refused',
  reset: 'Connection lost',
  unreachable: 'Host unreachable',
  tls: 'TLS problem',
  protocol: 'Not an HTTP response',
  blocked: 'Address not allowed',
  damaged: 'Stored body damaged',
  proxy_failed: 'Proxy failed',
  aborted: 'Interrupted',
  fault: 'Fault of the relay',
}

/** The name of an event, without the ending that it has on the wire. */
export const eventName = ({ event_type }: Pick<DeliveryRow, 'event_type'>): string => event_type.replace(/Hook$/, '')

const wordsOf = (outcome: string): string => outcomeWords[outcome] ?? outcome

/** An attempt in words, such as "Error response 500". */
export const attemptWords = (outcome: string, status: number | null): string =>
  status === null || outcome === 'delivered' ? wordsOf(outcome) : `${wordsOf(outcome)} ${status}`

/** The latest attempt of a delivery. After a resend its count starts again, and earlier attempts don't show here. */
export const latestWords = ({ attempts, last_outcome, last_status }: DeliveryRow): string =>
  last_outcome === null || attempts === 0 ? '–' : attemptWords(last_outcome, last_status)
