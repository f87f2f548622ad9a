/** Readers of a file: each view has its own connection. */
import type { Connection } from '../../sql/sqlite/connection.ts'

/** Open connections; a view holds one for some microtasks. */
const maxReaders = 16

export interface Readers {
  /** A connection that no other reader uses. @throws StorageError */
  take(): Connection | Promise<Connection>
  giveBack(connection: Connection): void
  close(): void
}

/** @param open opens one more connection */
export function readersWith(open: () => Connection): Readers {
  const idle: Connection[] = []
  const waiting: ((connection: Connection) => void)[] = []
  let opened = 0

  return {
    take() {
      const connection = idle.pop()
      if (connection) return connection
      if (opened >= maxReaders) return new Promise((resolve) => waiting.push(resolve))
      const another = open()
      opened++
      return another
    },
    giveBack(connection) {
      const next = waiting.shift()
      if (next) next(connection)
      else idle.push(connection)
    },
    close() {
      for (const connection of idle.splice(0)) connection.close()
    },
  }
}
