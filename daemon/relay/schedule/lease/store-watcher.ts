/** Polls the store for what others changed there: the command line, and the relays that share it. */
import type { Clock } from '../../clock.ts'
import type { RelayEvents } from '../../events.ts'
import { createPollLoop } from '../../poll-loop.ts'
import type { RelayStore, StoreChanges } from '../../store/store.ts'

/** Without a hint the store is polled this often, in milliseconds. */
const pollInterval = 200

export interface StoreWatcher {
  /** Whether the last poll went well. */
  readonly healthy: boolean
  /** Polls immediately. */
  hint(): void
  stop(): Promise<void>
}

export function startStoreWatcher(
  store: RelayStore,
  follow: (changes: StoreChanges) => void,
  clock: Clock,
  events: Required<RelayEvents>,
): StoreWatcher {
  async function step(): Promise<boolean> {
    const changes = await store.poll()
    if (changes) follow(changes)
    return false
  }

  const loop = createPollLoop({
    clock,
    interval: pollInterval,
    step,
    failed: (error) => events.onFault('the relay store cannot be polled', error),
  })
  const stopWatching = store.watch(loop.hint)
  return {
    get healthy() {
      return loop.healthy
    },
    hint: loop.hint,
    stop() {
      stopWatching()
      return loop.stop()
    },
  }
}
