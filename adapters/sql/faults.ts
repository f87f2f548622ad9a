/** Faults of a database, in words that are the same for both. Each engine has one table from its codes to these. */
import type { StorageErrorCode } from '../../lib/storage/contract.ts'

export type Fault =
  /** Another connection holds the lock: a later try will work. */
  | 'busy'
  /** Two transactions met: the whole transaction may run again. */
  | 'race'
  /** The connection is gone. */
  | 'lost'
  /** No response in the time that the client gives. */
  | 'silent'
  /** The database gave up a statement, or a transaction, that took too long. */
  | 'timeout'
  | 'full'
  /** The disk could not be read or written. */
  | 'disk'
  | 'damaged'
  /** The database cannot be used as it is: it is away, read-only, or lets no client in. */
  | 'closed'
  /** A unique key is taken. */
  | 'unique'
  /** The value is the trouble, not the place: its type, its size, a constraint. */
  | 'value'
  /** A statement before it in the transaction has failed. */
  | 'aborted'
  /** There is no transaction. */
  | 'outside'

/** The error of the storage contract for a fault; other faults are bugs of this package. */
export const storageCodes: Readonly<Partial<Record<Fault, StorageErrorCode>>> = {
  busy: 'unavailable',
  race: 'conflict',
  lost: 'conflict',
  silent: 'unavailable',
  timeout: 'unavailable',
  full: 'full',
  disk: 'unavailable',
  damaged: 'damaged',
  closed: 'unavailable',
}

/**
 * Whether a record may be to blame for an error, so that others are stored without it. A database that is full, locked, broken
 * or away is never the record's fault: the same will work later.
 *
 * @param fault the engine's fault of the error
 */
export function isRecordsFault(error: unknown, fault: Fault | undefined): boolean {
  if (fault !== undefined) return fault === 'value' || fault === 'unique'
  // A value that cannot be bound, or a bug in this package.
  return error instanceof TypeError || error instanceof RangeError
}
