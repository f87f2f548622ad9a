/** Reads what waits from the store: for several endpoints in one go, and ahead of its need where that is possible. */
import type { RelayEvents } from '../../events.ts'
import type { Lane, RelayStore, Waiting } from '../../store/store.ts'
import type { EndpointRun } from '../endpoint/endpoint-run.ts'
import type { InFlightAttempt } from './in-flight.ts'
import type { Ready } from './ready.ts'
import type { SubjectOrder } from './subject-order.ts'

const lanes = ['first', 'retry'] as const
/** Deliveries that one read gets, so that nothing waits long for it. Of many endpoints it gets a few of each all the same. */
const mostRead = 4096
const fewest = 32

export interface ReadingParts {
  readonly store: RelayStore
  readonly events: Required<RelayEvents>
  readonly ready: Ready<EndpointRun>
  readonly order: SubjectOrder
}

/** Reads in one go what the endpoints that come next need. */
export async function readNext(parts: ReadingParts, lane: Lane, count: number, now: number, monotonic: number): Promise<void> {
  if (count < 1) return
  const hungry = parts.ready.upcoming(count).filter((run) => run.isHungry(lane, now, monotonic) && parts.order.isOrdered(run))
  if (hungry.length > 0) await read(parts, hungry, lane, now)
}

/** Reads the heads of endpoints that go in order, side by side: one after the other each would cost a round trip. */
export function readHeads(
  { ready, order, store }: ReadingParts,
  count: number,
  now: number,
  monotonic: number,
): Map<EndpointRun, Promise<Waiting | undefined>> {
  const runs = ready.upcoming(count).filter((run) => run.needsHead(now, monotonic) && order.isOrdered(run))
  const heads = new Map(runs.map((run) => [run, store.head(run.endpoint.ref)]))
  // Nothing handles the error of one that is not chosen after all.
  for (const head of heads.values()) head.catch(() => undefined)
  return heads
}

export interface ReadAhead {
  /** Reads more for endpoints that were just sent to, in parallel with the ticks, which need not wait for it. */
  sentTo(attempts: readonly InFlightAttempt[]): void
}

export interface ReadAheadParts extends ReadingParts {
  readonly timeline: () => number
  readonly isStopping: () => boolean
  readonly wake: () => void
}

export function createReadAhead(parts: ReadAheadParts): ReadAhead {
  const { order, ready, timeline, isStopping, wake } = parts
  const waiting = new Set<EndpointRun>()
  let isReading = false

  async function readLow(): Promise<void> {
    const runs = [...waiting].filter((run) => order.isOrdered(run))
    waiting.clear()
    for (const lane of lanes) {
      const now = timeline()
      const low = isStopping() ? [] : runs.filter((run) => run.isLow(lane, now))
      if (low.length === 0) continue
      await read(parts, low, lane, now)
      for (const run of low) if (run.state.kind !== 'removed') ready.add(run)
      wake()
    }
  }

  return {
    // One at a time: the others of the store's connections are for the ticks.
    async sentTo(attempts) {
      for (const { run } of attempts) waiting.add(run)
      if (isReading) return
      isReading = true
      while (waiting.size > 0) await readLow()
      isReading = false
    },
  }
}

async function read({ store, events }: ReadingParts, runs: readonly EndpointRun[], lane: Lane, now: number): Promise<void> {
  const share = Math.max(fewest, Math.floor(mostRead / runs.length))
  const limit = Math.min(share, Math.max(...runs.map(({ reach }) => reach)))
  const readings = runs.map((run) => ({ run, reading: run.queue.reading(lane) }))
  try {
    const refs = runs.map(({ endpoint }) => endpoint.ref)
    const except = new Map(readings.map(({ run, reading }) => [run.endpoint.ref, reading.except]))
    const found = await store.peek(refs, lane, limit, except)
    for (const { run, reading } of readings) run.queue.feed(lane, reading, found.get(run.endpoint.ref) ?? [], limit, now)
  } catch (error) {
    events.onFault('the relay store cannot be read', error)
    for (const run of runs) run.queue.refresh()
  }
}
