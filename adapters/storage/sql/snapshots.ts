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
import type { Nesting } from '../nesting.ts'
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
  readonly nesting: Nesting
}

/** Reads that share a snapshot. */
interface Shared {
  /** Resolves when it has begun. */
  readonly reader: Promise<Reader>
  /** Reads that have not ended. */
  reads: number
  /** Opens the snapshot. It never rejects. */
  begin(): void
  /** A read has ended; the last one ends the snapshot. */
  leave(): void
}

export function sharedSnapshots({ open, maxReads, statements, nesting }: SnapshotOptions): Snapshots {
  const used = new Set<Promise<void>>()
  /** Those of this turn; the last one takes more reads. */
  let arrived: Shared[] = []

  function newShared(): Shared {
    const { promise: reader, resolve, reject } = Promise.withResolvers<Reader>()
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    let snapshot: Snapshot | undefined
    used.add(ended)
    const begin = async () => {
      try {
        snapshot = await open()
        resolve(shared.reads === 1 ? snapshot : remembering(snapshot))
      } catch (error) {
        reject(error)
      }
    }
    const shared: Shared = {
      reader,
      reads: 0,
      begin: () => void begin(),
      leave() {
        if (--shared.reads > 0) return
        used.delete(ended)
        end()
        try {
          snapshot?.end()
        } catch {
          // It has changed nothing, and the next one on this connection reports the fault.
        }
      },
    }
    return shared
  }

  function beginAll(): void {
    const all = arrived
    arrived = []
    for (const { begin } of all) begin()
  }

  function sharedOfTurn(): Shared {
    const last = arrived.at(-1)
    if (last && last.reads < maxReads) return last
    // Not before the end of the turn: what arrives later in it may know of commits that a snapshot from now on would not show.
    if (!last) setImmediate(beginAll)
    const shared = newShared()
    arrived.push(shared)
    return shared
  }

  return {
    async read<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
      const shared = sharedOfTurn()
      shared.reads++
      const mark = { running: true }
      let seen: SeenBy | undefined
      try {
        const reader = await shared.reader
        seen = reader.unsynced && seenBy(reader, reader.unsynced)
        // After the wait this is the caller's own turn again, so the work runs in the caller's asynchronous context.
        return await inSession(seen?.reader ?? reader, undefined, statements, (tx) => nesting.enter(mark, work, tx))
      } finally {
        mark.running = false
        shared.leave()
        const syncs = seen?.syncs()
        if (syncs) await syncs
      }
    },
    settled: () => Promise.all(used),
  }
}

/** The commits that one read may have seen before they were on the disk. */
interface SeenBy {
  /** The same reader, for this read alone. */
  readonly reader: Reader
  /** The syncs that the answer waits for; `undefined` for none. */
  syncs(): Promise<unknown> | undefined
}

function seenBy(reader: Reader, unsynced: NonNullable<Reader['unsynced']>): SeenBy {
  const syncs: Promise<unknown>[] = []
  let isAny = false
  const note = (table: string | undefined) => {
    const sync = unsynced(table)
    if (sync) syncs.push(sync)
  }
  return {
    reader: {
      get native() {
        isAny = true
        return reader.native
      },
      query(statement) {
        const rows = reader.query(statement)
        note(statement.reads)
        return rows
      },
    },
    syncs() {
      // The host's own statements may have come at any time until now.
      if (isAny) note(undefined)
      return syncs.length === 0 ? undefined : Promise.all(syncs)
    },
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
    ...(snapshot.unsynced ? { unsynced: snapshot.unsynced } : {}),
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
