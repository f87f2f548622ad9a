/** What SQLite says, in the terms of the storage contract. */
import { StorageError, type StorageErrorCode, UniqueViolation } from '../../../lib/storage/contract.ts'
import type { TableShape } from '../values.ts'
import { tablePrefix } from './dialect.ts'

/** Primary result codes of SQLite; the rest of an extended code is above the lowest byte. */
const codes: Readonly<Record<number, StorageErrorCode>> = {
  5: 'unavailable', // SQLITE_BUSY
  6: 'unavailable', // SQLITE_LOCKED
  8: 'unavailable', // SQLITE_READONLY
  10: 'unavailable', // SQLITE_IOERR
  11: 'damaged', // SQLITE_CORRUPT
  13: 'full', // SQLITE_FULL
  14: 'unavailable', // SQLITE_CANTOPEN
  26: 'damaged', // SQLITE_NOTADB
}

const resultCode = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : undefined

/** Another connection holds the database at this moment. */
export const isBusy = (error: unknown): boolean => resultCode(error) === 5 || resultCode(error) === 6

/** Reading from or writing to the disk failed. */
export const isDiskError = (error: unknown): boolean => resultCode(error) === 10

/** An error of SQLite as a `StorageError`, where it has a code; any other error as it is. */
export function storageErrorOf(error: unknown, path: string): unknown {
  const result = resultCode(error)
  const code = result === undefined ? undefined : codes[result]
  if (code === undefined || !(error instanceof Error)) return error
  const remedy = code === 'damaged' ? '. It was left as it is; restore a backup, or move it away to begin anew' : ''
  return new StorageError(code, `${path}: ${error.message}${remedy}`, { cause: error })
}

/** The violation that an error of SQLite stands for: its message names the columns of the key. */
export function uniqueViolationOf(error: unknown, table: TableShape): UniqueViolation | undefined {
  if (resultCode(error) !== 19 || !(error instanceof Error)) return undefined
  const columns = /^UNIQUE constraint failed: (.+)$/.exec(error.message)?.[1]?.split(', ')
  const names = columns?.map((column) => column.slice(tablePrefix.length + table.name.length + 1))
  return names && new UniqueViolation(table.name, names)
}
