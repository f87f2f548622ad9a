/**
 * The read side of an outbox: of a directory of segments, or of a table.
 *
 * Terms
 * - **Stream**: an ordered part of the outbox: one segment file, or the whole table.
 * - **Position**: how far a stream has been ingested. The reader keeps positions where it keeps what it ingested, in one
 *   transaction; the outbox itself remembers nothing.
 * - **Settled**: ingested durably. Only then does a source throw anything away.
 */
import type { Unusable } from './check.ts'
import type { OutboxRecord } from './record.ts'

/** The position of each stream: a byte offset for a segment, a count for a table. */
export type Positions = Readonly<Record<string, number>>

/** The stream of an outbox that is a table. */
export const tableStream = 'outbox'

/** A piece of a stream that could not be read or used: it was counted, set aside and skipped. */
export interface Damage extends Partial<Unusable> {
  /** The stream that it is in: the name of a segment file, or `outbox` for a table. */
  readonly stream: string
  /** A byte of a segment, or the number of a row. */
  readonly offset: number
  /** Its size. */
  readonly bytes: number
  /** What is wrong with it, in words. */
  readonly reason: string
  /** The skipped content, if the source itself keeps no copy of it. */
  readonly content?: string
}

/** A damage in one line, for a person. */
export const damageText = ({ stream, offset, bytes, reason }: Damage): string =>
  `${stream === tableStream ? `row ${offset} of the outbox` : `${stream} at byte ${offset}`}, ${bytes} bytes: ${reason}`

/** What one `read` of an outbox returns. */
export interface Reading {
  /** One list per commit, in the order of their stream. */
  readonly commits: readonly (readonly OutboxRecord[])[]
  /** Where the streams that were read stand after these commits; the other streams are left out. */
  readonly positions: Positions
  /** The pieces that could not be used; empty in all but rare cases. */
  readonly damage: readonly Damage[]
  /** Whether there is more to read immediately. */
  readonly more: boolean
}

/** The amount in an outbox that is not ingested, as far as the source can measure it at little cost. */
export interface Backlog {
  /** What `count` counts: bytes of segment files, or commits of a table. */
  readonly unit: 'bytes' | 'commits'
  /** The amount; 0 if everything is ingested. */
  readonly count: number
}

/** Of a backlog that is a table at most so many commits are counted. */
export const maxCounted = 10_000

/** An outbox as a relay reads it. */
export interface OutboxSource {
  /**
   * The next commits after `positions`; a stream that `positions` does not name is read from its beginning.
   * @param limit stop after about this many bytes; at least one commit comes if there is one
   */
  read(positions: Positions, limit: number): Promise<Reading>
  /**
   * Confirms that everything before `positions` is ingested durably, so that the source may delete it.
   * @returns the streams that no longer exist; their positions may be forgotten
   */
  settle(positions: Positions): Promise<readonly string[]>
  /** How much stands after `positions`. */
  backlog(positions: Positions): Promise<Backlog>
  /** Calls back soon after something may have been added; a hint, never a promise. The result ends it. */
  watch(changed: () => void): () => void
  /** Ends all watching and frees files and connections. */
  close(): Promise<void>
}
