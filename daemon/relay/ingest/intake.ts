/** Where a relay's events come from: one step of taking them over. */
import type { Backlog, OutboxSource, Positions, Reading } from '../../../lib/outbox/source.ts'
import type { Clock } from '../clock.ts'
import type { Ingested, SeparateStore } from '../store/store.ts'
import { piecesOf } from './pieces.ts'

/** The result of one step. */
export interface Piece {
  /** `undefined` when nothing was there. */
  readonly ingested: Ingested | undefined
  /** Whether there is more to ingest at once. */
  readonly more: boolean
}

export interface Intake {
  /**
   * Takes one piece over, so small that others have their turn soon.
   * @param timeline read after the records: an event is not due before it was recorded
   * @param firstDelay milliseconds before the first attempt
   */
  next(timeline: () => number, firstDelay: number): Promise<Piece>
  /** Syncs ingested records and lets the outbox delete them, when that is due. */
  tidy(): Promise<void>
  /** The amount in the outbox that is not ingested. */
  backlog(): Promise<Backlog>
  /** Calls back soon after something may have been added; a hint, never a promise. The result ends it. */
  watch(changed: () => void): () => void
  close(): Promise<void>
}

/** Bytes and deliveries ingested at once: a few milliseconds of this thread. */
const pieceBytes = 256 * 1024
const pieceDeliveries = 1000
/** Results of attempts are on the disk for good at the latest after this, in milliseconds. */
const syncInterval = 1000
/** The outbox is cleared at most this often, in milliseconds. */
const settleInterval = 1000
/** And at least this often: a writer that closes adds nothing, but finishes its last segment. */
const idleSettleInterval = 5000

/** From an outbox into a store beside it: durable records are deleted from the outbox. */
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
