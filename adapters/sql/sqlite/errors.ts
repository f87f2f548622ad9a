/** Errors of SQLite by their code. */
import { StorageError, type StorageErrorCode, UniqueViolation } from '../../../lib/storage/contract.ts'
import { isReadOnly, readOnlyRemedy } from '../../files/errors.ts'
import { type Fault, storageCodes } from '../faults.ts'
import type { TableShape } from '../values.ts'
import { sqliteDialect } from './dialect.ts'

/** Result codes of SQLite. An extended code that is not here stands for the primary one in its lowest byte. */
const faults: Readonly<Record<number, Fault>> = {
  5: 'busy', // SQLITE_BUSY
  6: 'busy', // SQLITE_LOCKED
  8: 'closed', // SQLITE_READONLY
  10: 'disk', // SQLITE_IOERR
  11: 'damaged', // SQLITE_CORRUPT
  13: 'full', // SQLITE_FULL
  14: 'closed', // SQLITE_CANTOPEN
  18: 'value', // SQLITE_TOOBIG
  19: 'value', // SQLITE_CONSTRAINT
  20: 'value', // SQLITE_MISMATCH
  25: 'value', // SQLITE_RANGE
  26: 'damaged', // SQLITE_NOTADB
  1555: 'unique', // SQLITE_CONSTRAINT_PRIMARYKEY
  2067: 'unique', // SQLITE_CONSTRAINT_UNIQUE
  2579: 'unique', // SQLITE_CONSTRAINT_ROWID
}

/** Errors of the file system, where a file was not even opened. */
const systemFaults: Readonly<Record<string, Fault>> = { ENOSPC: 'full', EDQUOT: 'full' }

/** The fault, also of a `StorageError` made from an error of SQLite; `undefined` for other errors. */
export function faultOf(error: unknown): Fault | undefined {
  if (!(error instanceof Error)) return undefined
  if (error instanceof StorageError) return faultOf(error.cause)
  if ('errcode' in error && typeof error.errcode === 'number') return faults[error.errcode] ?? faults[error.errcode & 0xff]
  if ('syscall' in error && 'code' in error) return systemFaults[String(error.code)] ?? 'closed'
  return undefined
}

/** An error as a `StorageError`, where it is about the database; any other error as it is. */
export function storageErrorOf(error: unknown, path: string): unknown {
  const fault = faultOf(error)
  const code = fault && storageCodes[fault]
  if (code === undefined || !(error instanceof Error) || error instanceof StorageError) return error
  return new StorageError(code, `${path}: ${error.message}${remedyOf(error, code)}`, { cause: error })
}

function remedyOf(error: Error, code: StorageErrorCode): string {
  if (code === 'damaged') return '. It was left as it is; restore a backup, or move it away to start over'
  return isReadOnly(error) ? `${readOnlyRemedy}. A copy on another disk, with its -wal file, can be read until then` : ''
}

/** The violation that an error stands for. SQLite names the columns of the key only in the message. */
export function uniqueViolationOf(error: unknown, table: TableShape): UniqueViolation | undefined {
  if (faultOf(error) !== 'unique' || !(error instanceof Error)) return undefined
  const columns = /failed: (.+)$/.exec(error.message)?.[1]?.split(', ')
  const names = columns?.map((column) => column.slice(sqliteDialect.prefix.length + table.name.length + 1))
  return names && new UniqueViolation(table.name, names)
}
