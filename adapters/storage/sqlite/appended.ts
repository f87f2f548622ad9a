/**
 * Rows for the outbox, held back until the commit of their group. Several rows by one statement cost half as much as one by one,
 * and no savepoint keeps the pages that they change.
 */

export interface Appended {
  /** A group begins. */
  groupBegun(): void
  /** A transaction of the group begins. */
  begun(): void
  /** Takes a row of the transaction that runs. @throws what `write` throws */
  add(row: string): void
  /** The transaction has ended well. Without this call its rows are dropped. */
  ended(): void
  /** Writes the rows that are held, in the order of their transactions. @throws what `write` throws */
  write(): void
}

/** Characters of one transaction that are held at most. */
const mostHeld = 256 * 1024

/**
 * @param write writes rows in their order
 * @param beforeWrite called before rows are written while a transaction runs, which may be undone
 */
export function appendedRows(write: (rows: readonly string[]) => void, beforeWrite: () => void): Appended {
  /** Rows of transactions of the group that have ended, and of the one that runs. */
  let group: string[] = []
  let own: string[] = []
  let length = 0
  /** Whether the transaction that runs has written rows in its savepoint, those before its own included. */
  let hasWritten = false

  return {
    groupBegun() {
      group = []
    },
    begun() {
      own = []
      length = 0
      hasWritten = false
    },
    add(row) {
      own.push(row)
      length += row.length
      if (length < mostHeld) return
      beforeWrite()
      write(hasWritten ? own : [...group, ...own])
      own = []
      length = 0
      hasWritten = true
    },
    ended() {
      if (hasWritten) group = []
      group.push(...own)
    },
    write() {
      write(group)
      group = []
    },
  }
}
