/**
 * Reads that arrive together share one snapshot of the data.
 *
 * Terms
 * - **Turn** of the event loop: reads that arrive in one begin together, at its end.
 * - **Snapshot**: a transaction that only reads, and so an unchanging state of the data. To begin and to end one costs about as
 *   much as a read. It is never older than any of its reads: a key revoked before a request arrived is revoked in the snapshot
 *   of that request.
 */
import type { Tx } from '../../../lib/storage/contract.ts'
import type { Statement, Statements } from '../../sql/statements.ts'
import { inSession, type Reader } from './session.ts'

export interface Snapshot extends Reader {
  /** Nobody reads from it any longer. */
  end(): void
}

export interface Snapshots {
  /** Runs work on a snapshot of the committed state. @throws the error of `work`, StorageError */
  read<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Waits for the snapshots that are in use. */
  settled(): Promise<unknown>
}

export interface SnapshotOptions {
  /** Begins a snapshot. @throws StorageError */
  open(): Snapshot | Promise<Snapshot>
  /** More reads than these do not share one. */
  readonly maxReads: number
  readonly statements: Statements
}

/** One read on its way. */
interface Read {
  /** Runs the work and settles the promise of its caller. It never rejects. */
  run(reader: Reader): Promise<void>
  reject(error: unknown): void
}

export function sharedSnapshots({ open, maxReads, statements }: SnapshotOptions): Snapshots {
  const used = new Set<Promise<void>>()
  let arrived: Read[] = []

  async function share(reads: readonly Read[]): Promise<void> {
    try {
      const snapshot = await open()
      try {
        const reader = reads.length === 1 ? snapshot : remembering(snapshot)
        await Promise.all(reads.map(({ run }) => run(reader)))
      } finally {
        snapshot.end()
      }
    } catch (error) {
      for (const { reject } of reads) reject(error)
    }
  }

  function beginAll(): void {
    const reads = arrived
    arrived = []
    for (let first = 0; first < reads.length; first += maxReads) {
      const shared = share(reads.slice(first, first + maxReads)).finally(() => used.delete(shared))
      used.add(shared)
    }
  }

  return {
    read<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      const run = (reader: Reader) => inSession(reader, undefined, statements, work).then(resolve, reject)
      // Not before the end of the turn: what arrives later in it may know of commits that a snapshot from now on would not show.
      if (arrived.length === 0) setImmediate(beginAll)
      arrived.push({ run, reject })
      return promise
    },
    settled: () => Promise.all(used),
  }
}

/** Rows that a snapshot keeps. */
const maxRemembered = 32

/**
 * The same snapshot, which asks the database once for a row that several reads want. Concurrent reads share little: the caller
 * and the network. Lists are not worth caching.
 */
function remembering(snapshot: Snapshot): Reader {
  const { query } = snapshot
  const known = new Map<string, Map<string, ReturnType<Reader['query']>>>()
  let count = 0
  return {
    get native() {
      return snapshot.native
    },
    query(statement: Statement) {
      const { sql, values, single } = statement
      if (!single) return query(statement)
      const wanted = JSON.stringify(values)
      const asked = known.get(sql)?.get(wanted)
      if (asked) return asked
      const answer = query(statement)
      if (count++ < maxRemembered) {
        const answers = known.get(sql) ?? new Map()
        known.set(sql, answers.set(wanted, answer))
      }
      return answer
    },
  }
}
