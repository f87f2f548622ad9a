/** Bodies read ahead with the waiting deliveries, within a limit: this saves a round trip for each turn of the scheduler. */
import type { Outgoing } from '../store.ts'

export interface Bodies {
  keep(outgoing: Outgoing): void
  /** Gives it, and forgets it. */
  take(delivery: number): Outgoing | undefined
}

/** Bytes kept at most, as far as bodies are concerned. */
const mostBytes = 16 * 1024 * 1024

export function createBodies(most: number = mostBytes): Bodies {
  const kept = new Map<number, Outgoing>()
  let bytes = 0

  function take(delivery: number): Outgoing | undefined {
    const outgoing = kept.get(delivery)
    if (!outgoing) return undefined
    kept.delete(delivery)
    bytes -= outgoing.body.length
    return outgoing
  }

  return {
    take,
    keep(outgoing) {
      take(outgoing.delivery)
      kept.set(outgoing.delivery, outgoing)
      bytes += outgoing.body.length
      // The oldest first: those may have gone to another relay since.
      for (const delivery of kept.keys()) {
        if (bytes <= most) return
        take(delivery)
      }
    },
  }
}
