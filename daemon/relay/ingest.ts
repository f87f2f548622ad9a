/** Takes the outbox over into the store, and lets the outbox throw away what is durable here. */
import type { OutboxSource, Positions } from '../../lib/outbox/source.ts'
import type { Clock } from './clock.ts'
import type { RelayEvents } from './events.ts'
import type { Settings } from './settings.ts'
import type { RelayStore, Taken } from './store/store.ts'

/** Bytes taken over at once: a few milliseconds of this thread. */
const pieceBytes = 256 * 1024
/** Without a hint the outbox is looked at this often, in milliseconds. */
const pollInterval = 200
/** Results of attempts are on the disk for good at the latest after this, in milliseconds. */
const syncInterval = 1000
/** The outbox is cleared at most this often, in milliseconds. */
const settleInterval = 1000
/** And at least this often: a writer that closes adds nothing, but finishes its last segment. */
const idleSettleInterval = 5000

export interface Ingest {
  /** Whether the last look at the outbox went well. */
  readonly healthy: boolean
  stop(): Promise<void>
}

export interface IngestParts {
  readonly source: OutboxSource
  readonly store: RelayStore
  readonly clock: Clock
  readonly timeline: () => number
  readonly settings: () => Settings
  readonly events: Required<RelayEvents>
  readonly taken: (taken: Taken) => void
  /** Called at every look at the outbox. */
  readonly beat: () => Promise<void>
}

export async function startIngest(parts: IngestParts): Promise<Ingest> {
  const { source, store, clock, timeline, settings, events } = parts
  let positions: Record<string, number> = { ...(await store.positions()) }
  let healthy = true
  let stopped = false
  let hinted = false
  let moved = true
  let settledAt = Number.NEGATIVE_INFINITY
  let syncedAt = Number.NEGATIVE_INFINITY
  let ring: () => void = () => undefined

  const stopWatching = source.watch(() => {
    hinted = true
    ring()
  })

  /** Takes one piece over, and says whether there is more. */
  async function takePiece(): Promise<boolean> {
    const reading = await source.read(positions, pieceBytes)
    if (reading.commits.length > 0 || reading.damage.length > 0 || Object.keys(reading.positions).length > 0) {
      const taken = await store.take(reading, timeline(), (settings().retrySchedule[0] ?? 0) * 1000)
      positions = { ...positions, ...reading.positions }
      moved = true
      parts.taken(taken)
      for (const notice of taken.notices) events.onNotice(notice)
      if (taken.events > 0) events.onTaken({ events: taken.events, duplicates: taken.duplicates })
    }
    return reading.more
  }

  async function sync(): Promise<void> {
    if (clock.monotonic() - syncedAt < syncInterval) return
    syncedAt = clock.monotonic()
    await store.sync()
  }

  async function settle(): Promise<void> {
    if (clock.monotonic() - settledAt < (moved ? settleInterval : idleSettleInterval)) return
    settledAt = clock.monotonic()
    const settled: Positions = positions
    // Durable first, cleared second: the other way round a power failure would lose events.
    await store.sync()
    const gone = await source.settle(settled)
    await store.forget(gone)
    for (const stream of gone) delete positions[stream]
    moved = false
  }

  /** Until a hint comes or it is time to look anyway. */
  async function pause(milliseconds: number): Promise<void> {
    if (hinted || stopped) return
    await new Promise<void>((resolve) => {
      const cancel = clock.timer(milliseconds, resolve)
      ring = () => {
        cancel()
        resolve()
      }
    })
    ring = () => undefined
  }

  async function run(): Promise<void> {
    for (let failures = 0; !stopped; ) {
      try {
        hinted = false
        await sync()
        const more = await takePiece()
        await settle()
        await parts.beat()
        healthy = true
        failures = 0
        // Deliveries have their turn between two pieces.
        if (more) await new Promise<void>((next) => void setImmediate(next))
        else await pause(pollInterval)
      } catch (error) {
        if (healthy) events.onFault('the outbox cannot be taken over', error)
        healthy = false
        hinted = false
        await pause(Math.min(5000, pollInterval * 2 ** Math.min(++failures, 10)))
      }
    }
  }

  const running = run()
  return {
    get healthy() {
      return healthy
    },
    async stop() {
      stopped = true
      stopWatching()
      ring()
      await running
    },
  }
}
