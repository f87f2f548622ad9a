/** Takes the outbox over, for as long as the relay runs. */
import type { RelayContext } from '../context.ts'
import { createPollLoop } from '../poll-loop.ts'
import type { Intake } from '../store/intake.ts'
import type { Ingested } from '../store/store.ts'

export interface Ingest {
  /** Whether the last poll of the outbox succeeded. */
  readonly healthy: boolean
  /** Milliseconds since everything that stood in the outbox had been ingested; since the start, if it never had. */
  readonly behindFor: number
  stop(): Promise<void>
}

export interface IngestParts extends RelayContext {
  readonly intake: Intake
  readonly onIngested: (ingested: Ingested) => void
}

export function startIngest({ intake, clock, timeline, settings, events, onIngested }: IngestParts): Ingest {
  let caughtUp = clock.monotonic()

  async function ingestPiece(): Promise<boolean> {
    const piece = await intake.next(timeline, (settings().retrySchedule[0] ?? 0) * 1000)
    if (!piece.more) caughtUp = clock.monotonic()
    if (!piece.ingested) return piece.more
    const { notices, events: count, duplicates } = piece.ingested
    onIngested(piece.ingested)
    for (const notice of notices) events.onNotice(notice)
    if (count > 0) events.onIngested({ events: count, duplicates })
    return piece.more
  }

  async function step(): Promise<boolean> {
    try {
      return await ingestPiece()
    } finally {
      // Also when nothing can be read: results of attempts are made durable by it.
      await intake.tidy()
    }
  }

  const loop = createPollLoop({
    clock,
    step,
    failed: (error) => events.onFault('the outbox cannot be ingested', error),
    watch: (hint) => intake.watch(hint),
  })
  return {
    get healthy() {
      return loop.healthy
    },
    get behindFor() {
      return clock.monotonic() - caughtUp
    },
    stop: loop.stop,
  }
}
