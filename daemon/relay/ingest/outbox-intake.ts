/** Takes events from an outbox over into the store next to it. */
import type { OutboxSource, Positions, Reading } from '../../../lib/outbox/source.ts'
import type { Clock } from '../clock.ts'
import type { Intake } from '../store/intake.ts'
import type { SeparateStore } from '../store/separate-store.ts'
import { piecesOf } from './split-batch.ts'

/** Bytes and deliveries ingested per batch: a few milliseconds of this thread. */
const pieceBytes = 256 * 1024
const pieceDeliveries = 1000
/** Results of attempts are on the disk for good at the latest after this, in milliseconds. */
const syncInterval = 1000
/** The outbox is cleared at most this often, in milliseconds. */
const settleInterval = 1000
/** And at least this often: a writer that closes adds nothing, but finishes its last segment. */
const idleSettleInterval = 5000

/** From an outbox into a store next to it: durable records are deleted from the outbox. */
export async function outboxIntake(source: OutboxSource, store: SeparateStore, clock: Clock): Promise<Intake> {
  let positions: Record<string, number> = { ...(await store.positions()) }
  let moved = true
  let settledAt = Number.NEGATIVE_INFINITY
  let syncedAt = Number.NEGATIVE_INFINITY
  /** The records that were read and not ingested. */
  let pieces: readonly Reading[] = []

  async function sync(): Promise<void> {
    syncedAt = clock.monotonic()
    await store.sync()
  }

  async function settle(): Promise<void> {
    settledAt = clock.monotonic()
    const settled: Positions = positions
    // Durable first, cleared second: the other way round a power failure would lose events.
    await sync()
    const gone = await source.settle(settled)
    await store.forget(gone)
    for (const stream of gone) delete positions[stream]
    moved = false
  }

  return {
    async next(timeline, firstDelay) {
      if (pieces.length === 0) {
        const reading = await source.read(positions, pieceBytes)
        const something = reading.commits.length > 0 || reading.damage.length > 0 || Object.keys(reading.positions).length > 0
        if (!something) return { ingested: undefined, more: reading.more }
        pieces = piecesOf(reading, (event) => store.fanOut(event), pieceDeliveries)
      }
      const [piece, ...rest] = pieces
      if (!piece) return { ingested: undefined, more: false }
      const ingested = await store.ingest(piece, timeline(), firstDelay)
      pieces = rest
      positions = { ...positions, ...piece.positions }
      moved = true
      return { ingested, more: piece.more }
    },
    async tidy() {
      const now = clock.monotonic()
      if (now - settledAt >= (moved ? settleInterval : idleSettleInterval)) await settle()
      else if (now - syncedAt >= syncInterval) await sync()
    },
    backlog: () => source.backlog(positions),
    watch: (changed) => source.watch(changed),
    async close() {
      await source.close()
      await store.sync()
    },
  }
}
