/** The relay for a page: it may be missing or away, and the page must still work. */

import { TooSlow, within } from '../../base/timeout.ts'
import { ApiError, isApiError } from '../../errors.ts'
import type { EndpointStatus, RelayAdmin } from '../../relay/relay-admin.ts'
import type { View } from '../route.ts'
import { type Html, html } from '../ui/html.ts'
import { badge, note, type Tone } from '../ui/parts.ts'
import { activityWords } from './wording.ts'

/** A response of the relay, or the reason for its silence. */
export type FromRelay<T> = { readonly there: true; readonly value: T } | { readonly there: false; readonly why: Silence }

/** `none`: there is no relay. `away`: it refused or failed. `slow`: it did not respond in time. */
type Silence = 'none' | 'away' | 'slow'

/**
 * Calls the relay. A failure is reported to the host, and never breaks the page.
 * @throws ApiError of the relay, whose sentence is for the visitor
 */
export async function callRelay<T>({ settings }: View, call: (relay: RelayAdmin) => Promise<T>): Promise<FromRelay<T>> {
  if (!settings.relay) return { there: false, why: 'none' }
  try {
    return { there: true, value: await within(settings.timeoutMs, 'the relay', call(settings.relay)) }
  } catch (error) {
    if (isApiError(error)) throw error
    settings.report(error, { task: 'panel: the relay' })
    return { there: false, why: error instanceof TooSlow ? 'slow' : 'away' }
  }
}

const statuses: Readonly<Record<Silence, number>> = { none: 404, away: 502, slow: 504 }

/**
 * The response of the relay, for a page that is nothing without it.
 * @throws ApiError 404 without a relay, 502 if it failed, 504 if it was too slow
 */
export function requireValue<T>(result: FromRelay<T>): T {
  if (result.there) return result.value
  throw new ApiError(statuses[result.why], { error: reasons[result.why] })
}

const reasons = {
  none: 'No relay is connected to this panel, so the state of deliveries is not shown.',
  away: 'The relay does not respond now. Events wait, and are delivered when it is back.',
  slow: 'The relay does not respond in time. Events wait, and are delivered when it can. Try again in a moment.',
}

/** The news that there is no relay; nothing if it responded. */
export const relayNote = (result: FromRelay<unknown>): Html | '' =>
  result.there ? '' : note(result.why === 'none' ? 'calm' : 'warn', html`<p>${reasons[result.why]}</p>`)

const tones: Readonly<Record<EndpointStatus['activity'], Tone>> = {
  delivering: 'good',
  paused: 'calm',
  'circuit open': 'bad',
  probing: 'warn',
  disabled: 'bad',
  unreadable: 'bad',
  'set aside': 'bad',
}

/** The state of an endpoint: from the relay, or from its definition alone. */
export function stateBadge(enabled: boolean, health: EndpointStatus | undefined): Html {
  if (!enabled) return badge('calm', 'Paused')
  if (!health) return badge('calm', 'On')
  const { activity, dead } = health
  if (activity === 'delivering' && dead > 0) return badge('bad', 'Some failed for good')
  return badge(tones[activity] ?? 'calm', activityWords[activity] ?? activity)
}
