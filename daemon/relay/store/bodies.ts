/** Contents read ahead with the waiting deliveries, within a limit: nothing reads them by themselves then. */
import type { Outgoing, Waiting } from './store.ts'

export interface Bodies {
  keep(waiting: Waiting, outgoing: Outgoing): void
  /** Gives what was read with this delivery, and forgets it. */
  take(waiting: Waiting): Outgoing | undefined
}

/** Bytes kept at most, as far as bodies are concerned. */
const mostBytes = 16 * 1024 * 1024

export function createBodies(most: number = mostBytes): Bodies {
  // By the object, and not by its number: SQLite may give the number of a removed delivery to another one.
  const kept = new Map<Waiting, Outgoing>()
  let bytes = 0

  function take(waiting: Waiting): Outgoing | undefined {
    const outgoing = kept.get(waiting)
    if (!outgoing) return undefined
    kept.delete(waiting)
    bytes -= outgoing.body.length
    return outgoing
  }

  return {
    take,
    keep(waiting, outgoing) {
      kept.set(waiting, outgoing)
      bytes += outgoing.body.length
      // The oldest first: they may never be read again.
      for (const oldest of kept.keys()) {
        if (bytes <= most) return
        take(oldest)
      }
    },
  }
}

/**
 * The contents of deliveries: those that were kept, and of the others those that are read now.
 * @param read reads contents by themselves
 */
export async function contentsOf(
  deliveries: readonly Waiting[],
  bodies: Bodies,
  read: (missing: readonly Waiting[]) => Promise<ReadonlyMap<number, Outgoing>>,
): Promise<ReadonlyMap<number, Outgoing>> {
  const found = new Map<number, Outgoing>()
  const missing: Waiting[] = []
  for (const waiting of deliveries) {
    const kept = bodies.take(waiting)
    if (kept) found.set(kept.delivery, kept)
    else missing.push(waiting)
  }
  return missing.length === 0 ? found : new Map([...found, ...(await read(missing))])
}
