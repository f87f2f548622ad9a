/** Records what ticks change. */
import pRetry from 'p-retry'
import type { RelayEvents } from '../../events.ts'
import { LeaseLost, type Recorded, type RelayStore } from '../../store/store.ts'
import type { InFlight } from '../choose/in-flight.ts'
import type { Batch } from './batch.ts'

export interface Recorder {
  /**
   * Records a batch, and what is in flight. Nothing continues until it is recorded: a full disk stops the sending, it does not
   * make duplicates.
   * @param now the relay's timeline
   * @throws LeaseLost
   */
  record(batch: Batch, now: number): Promise<Recorded>
  /** Whether the last batch could be recorded. */
  readonly healthy: boolean
  /** Gives up what cannot be recorded: it is sent again. */
  abort(): void
}

export function createRecorder(store: RelayStore, inFlight: InFlight, events: Required<RelayEvents>): Recorder {
  const aborting = new AbortController()
  let healthy = true
  return {
    async record(batch, now) {
      const recorded = await pRetry(() => store.commit({ ...batch, inFlight: inFlight.deliveries }, now), {
        retries: Number.POSITIVE_INFINITY,
        shouldRetry: ({ error }) => !(error instanceof LeaseLost),
        minTimeout: 100,
        maxTimeout: 5000,
        signal: aborting.signal,
        onFailedAttempt: ({ error }) => {
          if (error instanceof LeaseLost) return
          healthy = false
          events.onFault('results cannot be recorded', error)
        },
      })
      healthy = true
      return recorded
    },
    get healthy() {
      return healthy
    },
    abort: () => aborting.abort(),
  }
}
