/** Where a relay's events come from: one step of taking them over. */
import type { Backlog } from '../../../lib/outbox/source.ts'
import type { Ingested } from './store.ts'

export interface Piece {
  /** `undefined` when nothing was there. */
  readonly ingested: Ingested | undefined
  /** Whether there is more to ingest immediately. */
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
  backlog(): Promise<Backlog>
  /** Calls back soon after something may have been added; a hint, never a promise. The result ends it. */
  watch(changed: () => void): () => void
  close(): Promise<void>
}
