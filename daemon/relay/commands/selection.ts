/** Which deliveries a person means. */
import { UsageError } from '../../usage.ts'
import type { Selection } from '../store/operator.ts'
import type { DeliveryState } from '../store/store.ts'

/** The conditions as text, from a command line or a query. */
export interface SelectionText {
  readonly status?: string
  readonly endpoint?: string
  readonly network?: string
  readonly event?: string
  readonly type?: string
  readonly since?: string
  readonly until?: string
  readonly limit?: string
}

const states: readonly string[] = ['pending', 'delivered', 'dead']

function timeOf(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const time = Date.parse(value)
  if (Number.isNaN(time))
    throw new UsageError(`${flag} takes a date and time (2026-11-20T10:00:00Z), got ${JSON.stringify(value)}`)
  return time
}

/**
 * Deliveries a second, or undefined for all of them at once.
 * @throws UsageError
 */
export function rateOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const rate = Number(text)
  if (!(rate > 0 && rate <= 100_000)) throw new UsageError(`--rate takes deliveries per second, got ${JSON.stringify(text)}`)
  return rate
}

/**
 * A selection from its text.
 * @param fallback what holds when nothing is said
 * @throws UsageError
 */
export function selectionOf(
  flags: SelectionText,
  fallback: { readonly state?: DeliveryState; readonly limit: number },
): Selection {
  const { status, endpoint, network, event, type, limit } = flags
  if (status !== undefined && !states.includes(status))
    throw new UsageError(`--status is one of ${states.join(', ')}, got ${JSON.stringify(status)}`)
  const count = limit === undefined ? fallback.limit : Number(limit)
  if (!Number.isSafeInteger(count) || count < 1)
    throw new UsageError(`--limit takes a whole number from 1, got ${JSON.stringify(limit)}`)
  const since = timeOf('--since', flags.since)
  const until = timeOf('--until', flags.until)
  const state = (status as DeliveryState | undefined) ?? fallback.state
  return {
    limit: count,
    ...(state === undefined ? {} : { state }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(network === undefined ? {} : { network }),
    ...(event === undefined ? {} : { event }),
    ...(type === undefined ? {} : { type: type.endsWith('Hook') ? type : `${type}Hook` }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  }
}
