/** When the deliveries of which endpoint have to be put in order, so that no event overtakes another one of its subject. */

import type { RelayStore } from '../../store/store.ts'
import type { EndpointRun } from '../endpoint/endpoint-run.ts'

export interface SubjectOrder {
  /** Whether what waits for an endpoint is in its order; nothing is sent to it before that. */
  isOrdered(run: EndpointRun): boolean
  /** Everything that waits for an endpoint has to be looked through: it is new here, or its order may be another one now. */
  orderAll(run: EndpointRun): void
  /** Something may have come for an endpoint. */
  orderArrivals(run: EndpointRun): void
  readonly isDue: boolean
  /**
   * Puts in order what has to be, or a part of it.
   * @returns the endpoints that may have something to send by that
   * @throws LeaseLost
   */
  settle(inFlight: ReadonlySet<number>): Promise<readonly EndpointRun[]>
}

export function createSubjectOrder(store: RelayStore): SubjectOrder {
  const whole = new Set<EndpointRun>()
  /** Those of `whole` that the store is at work on. */
  let ordering: ReadonlySet<EndpointRun> = new Set()
  const arrivals = new Set<EndpointRun>()

  /** Does work for what is in a set; if that fails, it is in the set again. */
  async function taking(set: Set<EndpointRun>, work: (runs: readonly EndpointRun[]) => Promise<void>): Promise<void> {
    const runs = [...set].filter(({ state }) => state.kind !== 'removed')
    set.clear()
    if (runs.length === 0) return
    try {
      await work(runs)
    } catch (error) {
      for (const run of runs) set.add(run)
      throw error
    }
  }

  return {
    isOrdered: (run) => !whole.has(run) && !ordering.has(run),
    orderAll(run) {
      whole.add(run)
    },
    orderArrivals(run) {
      if (run.endpoint.order === 'subject') arrivals.add(run)
    },
    get isDue() {
      return whole.size + arrivals.size > 0
    },
    async settle(inFlight) {
      const settled: EndpointRun[] = []
      // Requests while the store is at work are for the next time.
      await taking(whole, async (runs) => {
        ordering = new Set(runs)
        const endpoints = runs.map(({ endpoint }) => endpoint)
        const more = new Set(await store.arrangeAll(endpoints, inFlight))
        for (const run of runs) {
          if (more.has(run.endpoint.ref)) whole.add(run)
          run.queue.refresh()
          if (!whole.has(run)) settled.push(run)
        }
      }).finally(() => {
        ordering = new Set()
      })
      await taking(arrivals, async (runs) => {
        const refs = runs.map(({ endpoint }) => endpoint.ref)
        const more = new Set(await store.arrange(refs, inFlight))
        for (const run of runs) {
          run.queue.refresh()
          if (more.has(run.endpoint.ref)) arrivals.add(run)
          settled.push(run)
        }
      })
      return settled
    },
  }
}
