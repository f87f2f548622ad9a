/** The health of an endpoint by its attempts: since when it fails, and how quickly it responds. Pure. */
import { isEndpointFailure, type Outcome } from '../../send/outcome.ts'
import type { EndpointState } from '../../store/endpoint/relay-endpoint.ts'

/** An attempt that is over within so many milliseconds was quick. */
const quickMs = 1000

/**
 * `quick`: its last attempt ended within a second, with any outcome. `slow`: it succeeded but took longer. `doubtful`: it took
 * longer to fail, or has had no attempt yet.
 */
export type Standing = (typeof standings)[number]
export const standings = ['quick', 'slow', 'doubtful'] as const

export interface Health {
  readonly lastSuccess: number | null
  /** The first failure since the last success, and the latest. */
  readonly failingSince: number | null
  readonly lastFailure: number | null
  /** Why the latest attempt that failed did. */
  readonly lastError: string | null
  /** Whether the host was reminded that these failures will disable it. */
  readonly reminded: boolean
}

export const recordedHealth = (state: EndpointState | undefined): Health => ({
  lastSuccess: state?.lastSuccess ?? null,
  failingSince: state?.failingSince ?? null,
  lastFailure: state?.lastFailure ?? null,
  lastError: state?.lastError ?? null,
  reminded: state?.reminded ?? false,
})

export function healthAfter(health: Health, outcome: Outcome, now: number): Health {
  // A damaged body does not count for the endpoint.
  if (outcome.result === 'damaged') return health
  if (outcome.result === 'delivered')
    return { lastSuccess: now, failingSince: null, lastFailure: null, lastError: null, reminded: false }
  const { result, reason, status } = outcome
  const lastError = status === null ? `${result}: ${reason}` : `${result} ${status}`
  if (!isEndpointFailure(outcome)) return { ...health, lastError }
  return { ...health, lastError, failingSince: health.failingSince ?? now, lastFailure: now }
}

/** Its days of failure are over: they are counted again. */
export const clearFailures = (health: Health): Health => ({ ...health, failingSince: null, lastFailure: null, reminded: false })

/**
 * Whether a success is worth recording. The very first one counts: after a restart it shows that the endpoint is usually quick.
 */
export const isNewsToRecord = ({ lastSuccess, failingSince, lastError }: Health): boolean =>
  failingSince !== null || lastSuccess === null || lastError !== null

export const recordedStanding = ({ lastSuccess, failingSince }: Health): Standing =>
  lastSuccess !== null && failingSince === null ? 'quick' : 'doubtful'

export function standingAfter(standing: Standing, { result, milliseconds }: Outcome): Standing {
  const isQuick = result !== 'timeout' && milliseconds < quickMs
  // A slot that waits for the proxy is as taken as one that waits for the receiver: others must not run out of them.
  if (result === 'aborted' || (result === 'proxy_failed' && isQuick)) return standing
  if (isQuick) return 'quick'
  return result === 'delivered' ? 'slow' : 'doubtful'
}
