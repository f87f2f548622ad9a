/** Errors of the file system. */
import { StorageError } from '../../lib/storage/contract.ts'

/** The error code of the operating system (`ENOENT`), or an empty text. */
export function errorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return ''
  return typeof error.code === 'string' ? error.code : ''
}

/** Whether `open` refused something that is not a regular file. */
export const isNoFile = (error: unknown): boolean => ['EFTYPE', 'ELOOP', 'EMLINK', 'EISDIR'].includes(errorCode(error))

/** Whether a file system, or SQLite on it, takes no changes. */
export function isReadOnly(error: unknown): boolean {
  if (error instanceof StorageError) return isReadOnly(error.cause)
  if (errorCode(error) === 'EROFS') return true
  // SQLITE_READONLY, in the lowest byte of its extended codes.
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 8
}

/** The end of a sentence about a file system that takes no changes: people mount one so, and a disk with faults becomes so. */
export const readOnlyRemedy = '. Look for its faults in the log of the system, and mount it for writing'

/** An error of the file system in the terms of the storage contract. */
export function fileError(what: string, error: unknown): StorageError {
  if (error instanceof StorageError) return error
  const code = errorCode(error)
  const full = code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG'
  const message = error instanceof Error ? error.message : String(error)
  const remedy = isReadOnly(error) ? readOnlyRemedy : ''
  return new StorageError(full ? 'full' : 'unavailable', `${what}: ${message}${remedy}`, { cause: error })
}
