/**
 * Transactions over tables in memory, made durable in groups.
 *
 * Terms
 * - **Commit**: what a writing transaction did. It is in the tables as soon as the work is done; commits are numbered.
 * - **Durable**: a commit that `persist` has taken. No caller sees a commit, directly or by reading it, before it is durable.
 * - **Group**: the commits that one call of `persist` takes. While it runs, the next transactions already work on.
 * - **Undone**: a commit that could not be made durable is taken back, and with it every commit that was built on top of it.
 */
import type { OutboxRecord } from '../../../lib/outbox/record.ts'
import { isStorageError, type OutboxWriter, type Storage, StorageError, type Tx } from '../../../lib/storage/contract.ts'
import { nestingIn } from '../nesting.ts'
import type { Change } from './table.ts'
import { openSession, type Session, type TablesInMemory, undo } from './tables.ts'
import { newTurns } from './turns.ts'

export interface Commit {
  readonly records: readonly OutboxRecord[]
}

export interface Durability {
  /**
   * Makes a group durable. The tables hold exactly the commits up to the last one of the group until this first awaits.
   * When it rejects, nothing of the group may become visible later.
   */
  persist(group: readonly Commit[]): Promise<void>
}

interface LoggedCommit extends Commit {
  readonly changes: readonly Change[]
}

/** How it ended for a caller who waits for a commit; readers of an undone commit get a new turn, the first one there is. */
type Fate = { readonly durable: true } | { readonly durable: false; readonly error: StorageError; readonly turn: Turn }
type Turn = Promise<void> | undefined

interface Waiter {
  readonly commit: number
  readonly reader: boolean
  readonly settle: (fate: Fate) => void
}

const durable: Fate = { durable: true }
/** A group of so many waits for no more. */
const enoughInGroup = 128
/** Turns of the event loop that a group waits at least. Requests that follow the responses of the last group arrive in them. */
const fewestTurns = 3
// Browsers have no `setImmediate`.
const { setImmediate: soon = setTimeout } = globalThis as { readonly setImmediate?: (work: () => void) => unknown }
const turnOfLoop = () => new Promise<void>((resolve) => void soon(resolve))
const notKept = 'the commit could not be made durable; nothing of it was kept'

/** The address of an outbox, for relays, on a storage that writes to it. */
export const outboxOf = ({ address }: OutboxWriter): Pick<Storage, 'outbox'> => (address === undefined ? {} : { outbox: address })

/**
 * A storage over tables in memory.
 *
 * @param tables where the rows are
 * @param options `persist` makes a group of commits durable; without it, memory is all there is. `close` frees the storage's
 * resources, once, when all work is done
 */
export function transactionsInMemory(
  tables: TablesInMemory,
  options: Partial<Durability> & Pick<Storage, 'outbox'> & { readonly close?: () => Promise<void> } = {},
): Storage {
  const { persist } = options
  const turns = newTurns()
  const nesting = nestingIn()
  /** The number of the newest commit in the tables, and of the newest one that is durable. */
  let newest = 0
  let newestDurable = 0
  let unpersisted: LoggedCommit[] = []
  let waiters: Waiter[] = []
  let persisting = false
  let running = 0
  let closing: Promise<void> | undefined
  let allDone: (() => void) | undefined

  /** The outcome of a commit. Read before the turn ends, so that an undo cannot overlook the reader. */
  function fateOf(commit: number, reader: boolean): Promise<Fate> | Fate {
    if (commit <= newestDurable) return durable
    return new Promise((settle) => waiters.push({ commit, reader, settle }))
  }

  /** @throws StorageError `closed`, TypeError inside of another transaction */
  function enter(): void {
    if (closing) throw new StorageError('closed', 'the storage is closed; open it again')
    nesting.refuse()
    running++
  }

  function leave(): void {
    running--
    if (running === 0) allDone?.()
  }

  /** The outcome of work, after which its session takes nothing more. */
  async function outcomeOf<T>(work: (tx: Tx) => Promise<T>, session: Session): Promise<Outcome<T>> {
    try {
      const value = await nesting.enter(session, work, session.tx)
      session.checkRecords()
      return { value }
    } catch (thrown) {
      return { thrown }
    } finally {
      session.end()
    }
  }

  async function write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    enter()
    try {
      const turn = turns.exclusive()
      if (turn) await turn
      const session = openSession(tables, false)
      const outcome = await outcomeOf(work, session)
      if ('thrown' in outcome) undo(session.changes)
      else if (session.changes.length > 0 || session.records.length > 0) commit(session)
      // A writer that failed may have seen a commit that is not durable yet, and waits for it as well.
      const awaited = fateOf(newest, false)
      turns.endExclusive()
      const fate = awaited instanceof Promise ? await awaited : awaited
      if (!fate.durable) throw fate.error
      return settled(outcome)
    } finally {
      leave()
    }
  }

  async function read<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    enter()
    try {
      let turn = turns.shared()
      for (;;) {
        if (turn) await turn
        const session = openSession(tables, true)
        const outcome = await outcomeOf(work, session)
        // Commits to other tables than those that were read do not matter.
        const awaited = fateOf(session.lastCommit, true)
        turns.endShared()
        const fate = awaited instanceof Promise ? await awaited : awaited
        if (fate.durable) return settled(outcome)
        turn = fate.turn
      }
    } finally {
      leave()
    }
  }

  function commit({ changes, records }: LoggedCommit) {
    newest++
    for (const { table } of changes) table.lastCommit = newest
    if (!persist) {
      newestDurable = newest
      return
    }
    unpersisted.push({ changes, records })
    if (persisting) return
    persisting = true
    void persistAll(persist)
  }

  /** Waits as long as each turn of the event loop brings more commits, so that requests which arrive together share a group. */
  async function gathered() {
    for (let turns = 0, before = 0; unpersisted.length < enoughInGroup; turns++) {
      if (turns >= fewestTurns && unpersisted.length === before) return
      before = unpersisted.length
      await turnOfLoop()
    }
  }

  async function persistAll(persist: Durability['persist']) {
    while (unpersisted.length > 0) {
      await gathered()
      // A reader's turn: the tables stand between two commits while `persist` looks at them. Work that requested a turn before
      // still gets into this group.
      const turn = turns.shared()
      if (turn) await turn
      const group = unpersisted
      const last = newest
      unpersisted = []
      const persisted = persist(group)
      turns.endShared()
      try {
        await persisted
        newestDurable = last
        settleWaiters(() => durable)
      } catch (cause) {
        await undoFrom(group, last, cause)
      }
    }
    persisting = false
  }

  /** Takes a group back that could not be made durable, and all that was done on top of it in the meantime. */
  async function undoFrom(group: readonly LoggedCommit[], last: number, cause: unknown) {
    const error = isStorageError(cause) ? cause : new StorageError('unavailable', notKept, { cause })
    // First in the queue: what runs now finishes, and is undone with the rest; what waits must not build on it.
    const turn = turns.exclusive('first')
    if (turn) await turn
    undo([...group, ...unpersisted].flatMap(({ changes }) => changes))
    unpersisted = []
    newestDurable = newest
    // Changes on top of the group were never sent to the disk, so nothing of them can be there.
    const errorOf = (commit: number) =>
      commit > last && error.code === 'unknown' ? new StorageError('unavailable', notKept, { cause }) : error
    // Readers run again before any writer does: on tables that are durable all through, so once more is enough.
    settleWaiters(({ reader, commit }) => ({
      durable: false,
      error: errorOf(commit),
      turn: reader ? turns.shared('first') : undefined,
    }))
    turns.endExclusive()
  }

  function settleWaiters(fate: (waiter: Waiter) => Fate) {
    const due = waiters.filter(({ commit }) => commit <= newestDurable)
    waiters = waiters.filter(({ commit }) => commit > newestDurable)
    for (const waiter of due) waiter.settle(fate(waiter))
  }

  return {
    ...(options.outbox === undefined ? {} : { outbox: options.outbox }),
    fast: {
      // Commits that are not durable need not count: no caller has seen them.
      version(read) {
        if (!read) return newestDurable
        let last = 0
        for (const { name } of read) last = Math.max(last, tables.used.get(name)?.lastCommit ?? 0)
        return last
      },
    },

    transaction: (work, { readOnly = false } = {}) => (readOnly ? read(work) : write(work)),

    close() {
      closing ??= new Promise<void>((resolve) => {
        if (running === 0) resolve()
        else allDone = resolve
      }).then(options.close)
      return closing
    },
  }
}

type Outcome<T> = { readonly value: T } | { readonly thrown: unknown }

function settled<T>(outcome: Outcome<T>): T {
  if ('thrown' in outcome) throw outcome.thrown
  return outcome.value
}
