/** Readers of a file: each transaction has a connection of its own, and with it one unchanging view of the data. */
import type { Connection } from './connection.ts'

/** Connections at once; a transaction that only reads holds one for some microtasks. */
const mostReaders = 16

export interface Readers {
  /** Runs work on a snapshot of what is committed now. @throws what `work` throws, StorageError */
  read<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  close(): void
}

/** @param open opens one more connection */
export function readersWith(open: () => Connection): Readers {
  const idle: Connection[] = []
  const waiting: ((connection: Connection) => void)[] = []
  let opened = 0

  function take(): Connection | Promise<Connection> {
    const connection = idle.pop()
    if (connection) return connection
    if (opened >= mostReaders) return new Promise((resolve) => waiting.push(resolve))
    const another = open()
    opened++
    return another
  }

  function giveBack(connection: Connection): void {
    const next = waiting.shift()
    if (next) next(connection)
    else idle.push(connection)
  }

  return {
    async read(work) {
      const connection = await take()
      try {
        connection.run('BEGIN')
        try {
          return await work(connection)
        } finally {
          connection.run('COMMIT')
        }
      } finally {
        giveBack(connection)
      }
    },
    close() {
      for (const connection of idle.splice(0)) connection.close()
    },
  }
}
