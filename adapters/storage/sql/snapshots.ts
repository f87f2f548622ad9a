/**
 * Reads that arrive together share one snapshot of the data.
 *
 * Terms
 * - **Turn** of the event loop: reads that arrive in one begin together, at its end.
 * - **Snapshot**: a transaction that only reads, and so an unchanging state of the data. To begin and to end one costs about as
 *   much as a read. It is never older than any of its reads: a key revoked before a request arrived is revoked in the snapshot
 *   of that request.
 */
import { BoundedMap } from '../../../lib/base/bounded.ts'
import type { Tx } from '../../../lib/storage/contract.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Statements } from '../../sql/statements.ts'
import type { Nesting } from '../nesting.ts'
import { inSession, type Reader, type Rows } from './session.ts'

export interface Snapshot extends Reader {
  /** Resolves with the first response of the database, or with its failure. Left out where that does not take time. */
  readonly begun?: Promise<unknown>
  /** No reader uses it any longer. */
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

interface SharedSnapshot {
  /** Resolves when it has begun. */
  readonly reader: Promise<Reader>
  /** Reads that have not ended. */
  reads: number
  /** Opens the snapshot. It never rejects. */
  begin(): void
  /** A read has ended; the last one ends the snapshot. */
  leave(): void
}

/** Milliseconds after which reads no longer wait for the response to a snapshot that has begun before. */
const lateMs = 10

export function sharedSnapshots({ open, maxReads, statements, nesting }: SnapshotOptions): Snapshots {
  const used = new Set<Promise<void>>()
  /** Those of this turn; the last one takes more reads. */
  let arrived: SharedSnapshot[] = []
  /**
   * Snapshots without a response. Reads that arrive until then begin together when it is there: fewer messages, and fewer
   * responses.
   */
  let beginning = 0
  let late: ReturnType<typeof setTimeout> | undefined

  function newShared(): SharedSnapshot {
    const { promise: reader, resolve, reject } = Promise.withResolvers<Reader>()
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    let snapshot: Snapshot | undefined
    used.add(ended)
    const begin = async () => {
      try {
        snapshot = await open()
        snapshot.begun?.then(hasBegun, hasBegun) ?? hasBegun()
        resolve(shared.reads === 1 ? snapshot : new RememberingReader(snapshot))
      } catch (error) {
        hasBegun()
        reject(error)
      }
    }
    const shared: SharedSnapshot = {
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
    clearTimeout(late)
    late = undefined
    const all = arrived
    arrived = []
    beginning += all.length
    for (const { begin } of all) begin()
  }

  /** At the end of a turn. */
  function beginSome(): void {
    if (arrived.length === 0) return
    if (beginning === 0) beginAll()
    else late ??= setTimeout(beginAll, lateMs)
  }

  function hasBegun(): void {
    beginning--
    if (late) setImmediate(beginSome)
  }

  function sharedOfTurn(): SharedSnapshot {
    const last = arrived.at(-1)
    if (last && last.reads < maxReads) return last
    // Not before the end of the turn: what arrives later in it may know of commits that a snapshot from now on would not show.
    if (!last) setImmediate(beginSome)
    const shared = newShared()
    arrived.push(shared)
    return shared
  }

  return {
    async read<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
      const shared = sharedOfTurn()
      shared.reads++
      const mark = { running: true }
      let seen: SeenReader | undefined
      try {
        const reader = await shared.reader
        seen = reader.unsynced && new SeenReader(reader)
        // After the wait this is the caller's own turn again, so the work runs in the caller's asynchronous context.
        return await inSession(seen ?? reader, undefined, statements, (tx) => nesting.enter(mark, work, tx))
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

const none: readonly Promise<unknown>[] = []

/** The same reader for one read alone, which notes the commits that the read may have seen before they were on the disk. */
class SeenReader implements Reader {
  readonly #reader: Reader
  #syncs: readonly Promise<unknown>[] = none
  #isAny = false

  constructor(reader: Reader) {
    this.#reader = reader
  }

  native(): unknown {
    this.#isAny = true
    return this.#reader.native()
  }

  query(statement: Statement): Rows | Promise<Rows> {
    const rows = this.#reader.query(statement)
    this.#note(statement.reads)
    return rows
  }

  /** The syncs that the response waits for; `undefined` for none. */
  syncs(): Promise<unknown> | undefined {
    // The host's own statements may have come at any time until now.
    if (this.#isAny) this.#note(undefined)
    return this.#syncs.length === 0 ? undefined : Promise.all(this.#syncs)
  }

  #note(table: string | undefined): void {
    const sync = this.#reader.unsynced?.(table)
    if (sync) this.#syncs = [...this.#syncs, sync]
  }
}

/** Rows that a snapshot keeps. */
const maxRemembered = 32

/**
 * The same snapshot, which queries the database once for a row that several reads want. Concurrent reads share little: the caller
 * and the network. Lists are not worth caching.
 */
class RememberingReader implements Reader {
  readonly #snapshot: Snapshot
  readonly #known = new BoundedMap<string, Rows | Promise<Rows>>(maxRemembered)
  readonly unsynced?: NonNullable<Reader['unsynced']>

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot
    if (snapshot.unsynced) this.unsynced = (table) => snapshot.unsynced?.(table)
  }

  native(): unknown {
    return this.#snapshot.native()
  }

  query(statement: Statement): Rows | Promise<Rows> {
    if (!statement.single) return this.#snapshot.query(statement)
    // The values first: their end is certain, whatever is in them.
    const wanted = JSON.stringify(statement.values) + statement.sql
    const known = this.#known.get(wanted)
    if (known) return known
    const rows = this.#snapshot.query(statement)
    this.#known.set(wanted, rows)
    return rows
  }
}
