/**
 * Reads that arrive together share one view of the data.
 *
 * Terms
 * - **Turn** of the event loop: reads that arrive in one begin together, at its end.
 * - **View**: a transaction that only reads, and so an unchanging state of the data. To begin and to end one costs about as much
 *   as a read. It is never older than any of the reads in it: a key that was revoked before a request arrived is revoked in
 *   the view that the request is answered from.
 */
import type { Tx } from '../../../lib/storage/contract.ts'
import type { Statement, Statements } from '../../sql/statements.ts'
import { type Executor, openSession } from './session.ts'

export interface View extends Executor {
  /** Every read has asked for what it wants first. */
  begun(): void
  /** Nobody reads from it any longer. */
  end(): void
}

export interface Views {
  /** Runs work on a view of what is committed now. @throws what `work` throws, StorageError */
  read<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  /** Waits for the views that are in use. */
  settled(): Promise<unknown>
}

export interface ViewOptions {
  /** Begins a view. @throws StorageError */
  open(): View | Promise<View>
  /** More reads than these do not share a view. */
  readonly most: number
  readonly statements: Statements
}

/** One read on its way. */
interface Read {
  /** Runs the work and tells whoever waits for it. It never rejects. */
  run(view: Executor): Promise<void>
  reject(error: unknown): void
}

export function viewsWith({ open, most, statements }: ViewOptions): Views {
  const used = new Set<Promise<void>>()
  let arrived: Read[] = []

  async function share(reads: readonly Read[]): Promise<void> {
    try {
      const view = await open()
      try {
        const executor = reads.length === 1 ? view : remembering(view)
        const ends = reads.map(({ run }) => run(executor))
        view.begun()
        await Promise.all(ends)
      } finally {
        view.end()
      }
    } catch (error) {
      for (const { reject } of reads) reject(error)
    }
  }

  function beginAll(): void {
    const reads = arrived
    arrived = []
    for (let first = 0; first < reads.length; first += most) {
      const view = share(reads.slice(first, first + most)).finally(() => used.delete(view))
      used.add(view)
    }
  }

  return {
    read<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      const run = async (view: Executor) => {
        const session = openSession(view, statements, true)
        try {
          resolve(await work(session.tx))
        } catch (error) {
          reject(error)
        } finally {
          session.end()
        }
      }
      // Not before the end of the turn: what arrives later in it may know of commits that a view from now on would not show.
      if (arrived.length === 0) setImmediate(beginAll)
      arrived.push({ run, reject })
      return promise
    },
    settled: () => Promise.all(used),
  }
}

/** Rows that a view keeps. */
const maxRemembered = 32

/**
 * The same view, which asks the database once for a row that several reads want. What many reads at once have in common is
 * little: who calls, and for which network; lists are not worth keeping.
 */
function remembering(view: View): Executor {
  const known = new Map<string, Map<string, ReturnType<Executor['query']>>>()
  let count = 0

  function query(statement: Statement): ReturnType<Executor['query']> {
    const { sql, values, single } = statement
    if (!single) return view.query(statement)
    const wanted = JSON.stringify(values)
    const asked = known.get(sql)?.get(wanted)
    if (asked) return asked
    const answer = view.query(statement)
    if (count++ < maxRemembered) {
      const answers = known.get(sql) ?? new Map()
      known.set(sql, answers.set(wanted, answer))
    }
    return answer
  }

  return { ...view, query }
}
