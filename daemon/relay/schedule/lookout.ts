/** Looks for what others changed in the store: the command line, and the relays that share it. */
import type { Clock } from '../clock.ts'
import type { RelayEvents } from '../events.ts'
import { createPulse } from '../pulse.ts'
import type { RelayStore } from '../store/store.ts'
import type { Scheduler } from './scheduler.ts'

/** Without a hint the store is looked at this often, in milliseconds. */
const pollInterval = 200

export interface Lookout {
  /** Whether the last look went well. */
  readonly healthy: boolean
  /** Looks at once. */
  hint(): void
  stop(): Promise<void>
}

export function startLookout(store: RelayStore, scheduler: Scheduler, clock: Clock, events: Required<RelayEvents>): Lookout {
  async function step(): Promise<boolean> {
    const news = await store.poll()
    if (news) scheduler.hear(news)
    return false
  }

  const pulse = createPulse({
    clock,
    interval: pollInterval,
    step,
    failed: (error) => events.onFault('the relay store cannot be looked at', error),
  })
  const stopWatching = store.watch(pulse.hint)
  return {
    get healthy() {
      return pulse.healthy
    },
    hint: pulse.hint,
    stop() {
      stopWatching()
      return pulse.stop()
    },
  }
}
