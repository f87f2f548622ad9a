/**
 * Records for the outbox, held back until the commit of their group. One row for all of them costs half as much as a row each, and
 * no savepoint keeps the pages that they change.
 */
import { lengthOf, partsOf } from '../../../lib/outbox/parts.ts'
import type { OutboxRecord } from '../../../lib/outbox/record.ts'

export interface AppendedRecords {
  groupBegun(): void
  /** A transaction of the group begins. */
  begun(): void
  /** Takes records of the transaction that runs. @throws what `write` throws */
  add(records: readonly OutboxRecord[]): void
  /** The transaction has ended well. Without this call its records are dropped. */
  ended(): void
  /** Writes the records that are held, in the order of their transactions. @throws what `write` throws */
  write(): void
}

/** Characters of one transaction that are held at most. */
const mostHeld = 256 * 1024

/** @param writeRow writes records as one row */
export function appendedRecords(writeRow: (records: readonly OutboxRecord[]) => void): AppendedRecords {
  /** Records of transactions of the group that have ended, and of the one that runs. */
  let group: OutboxRecord[] = []
  let own: OutboxRecord[] = []
  let length = 0
  /** Whether the transaction that runs has written rows in its savepoint, with the records before its own. */
  let hasWritten = false

  function write(records: readonly OutboxRecord[]): void {
    for (const part of partsOf(records)) writeRow(part)
  }

  return {
    groupBegun() {
      group = []
    },
    begun() {
      own = []
      length = 0
      hasWritten = false
    },
    add(records) {
      for (const record of records) {
        own.push(record)
        length += lengthOf(record)
      }
      if (length < mostHeld) return
      write(hasWritten ? own : [...group, ...own])
      own = []
      length = 0
      hasWritten = true
    },
    ended() {
      if (hasWritten) group = []
      for (const record of own) group.push(record)
    },
    write() {
      write(group)
      group = []
    },
  }
}
