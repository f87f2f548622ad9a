/**
 * Readers of a file: connections of their own, each with one unchanging view of the data while it is in use.
 *
 * Terms
 * - **Turn** of the event loop: reads that arrive in one begin together, at its end.
 * - **View**: what is committed when the first of them looks. They share it and its connection, because to begin and to end a
 *   transaction costs about as much as a read. It is never older than any of the reads in it: a key that was revoked before
 *   a request arrived is revoked in the view that the request is answered from.
 */
import type { Connection } from './connection.ts'

/** Connections at once; a view holds one for some microtasks. */
const mostReaders = 16
/** More than these do not share a view. */
const mostInView = 64

export interface Readers {
  /** Runs work on a view of what is committed now. @throws what `work` throws, StorageError */
  read<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** Waits for the views that are in use. */
  close(): Promise<void>
}

interface Waiting {
  /** Runs the work and tells whoever waits for it. It never rejects. */
  run(connection: Connection): Promise<void>
  reject(error: unknown): void
}

/** @param open opens one more connection */
export function readersWith(open: () => Connection): Readers {
  const idle: Connection[] = []
  const starved: ((connection: Connection) => void)[] = []
  const views = new Set<Promise<void>>()
  let arrived: Waiting[] = []
  let opened = 0

  function take(): Connection | Promise<Connection> {
    const connection = idle.pop()
    if (connection) return connection
    if (opened >= mostReaders) return new Promise((resolve) => starved.push(resolve))
    const another = open()
    opened++
    return another
  }

  function giveBack(connection: Connection): void {
    const next = starved.shift()
    if (next) next(connection)
    else idle.push(connection)
  }

  async function share(jobs: readonly Waiting[]): Promise<void> {
    try {
      const connection = await take()
      try {
        connection.run('BEGIN')
        await Promise.all(jobs.map(({ run }) => run(connection)))
        connection.run('COMMIT')
      } finally {
        giveBack(connection)
      }
    } catch (error) {
      for (const { reject } of jobs) reject(error)
    }
  }

  function beginAll(): void {
    const jobs = arrived
    arrived = []
    for (let first = 0; first < jobs.length; first += mostInView) {
      const view = share(jobs.slice(first, first + mostInView)).finally(() => views.delete(view))
      views.add(view)
    }
  }

  return {
    read<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      // Not before the end of the turn: what arrives later in it may know of commits that a view from now on would not show.
      if (arrived.length === 0) setImmediate(beginAll)
      arrived.push({ run: (connection) => work(connection).then(resolve, reject), reject })
      return promise
    },
    async close() {
      await Promise.all(views)
      for (const connection of idle.splice(0)) connection.close()
    },
  }
}
