/** The relay for the panel, over the store of a relay that runs in the same process. */
import { openOperatorStore } from '../../open-store.ts'
import type { Relay } from '../../relay.ts'
import { pausedByPerson, testThrough } from './running-endpoint.ts'
import type { OpenRelayView } from './side.ts'
import { viewOver } from './view.ts'

/**
 * The view of a relay in this process.
 * @param outbox the one that the relay was started with
 */
export const relayViewOf = (relay: Relay, outbox: string): OpenRelayView =>
  viewOver({
    openStore: () => openOperatorStore(outbox),
    now: () => relay.now(),
    isRunning: async () => relay.ready,
    probing: () =>
      new Set([...relay.scheduler.endpoints].flatMap(({ endpoint, circuit }) => (circuit === 'probing' ? endpoint.ref : []))),
    onDue: () => relay.scheduler.refresh(),
    test: (_, endpoint) => testThrough(relay, endpoint),
    enable: (_, { ref }) => relay.enable(ref),
    disable: (_, { ref }) => relay.disable(ref, pausedByPerson),
  })
