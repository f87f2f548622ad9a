import type { EventRecord } from '../../../lib/outbox/record.ts'
import type { Positions, Reading } from '../../../lib/outbox/source.ts'
import type { Ingested, RelayStore } from './store.ts'

/** A store next to an outbox that it is no part of. */
export interface SeparateStore extends RelayStore {
  positions(): Promise<Positions>
  /** How many endpoints an event goes to, as they are now. */
  fanOut(event: EventRecord): number
  /** Takes a reading over: its records and its positions, in one transaction. */
  ingest(reading: Reading, now: number, firstDelay: number): Promise<Ingested>
  /** Makes everything so far durable, power failures included. The outbox may be cleared after that. */
  sync(): Promise<void>
  /** Forgets the positions of streams that are gone. */
  forget(streams: readonly string[]): Promise<void>
}
