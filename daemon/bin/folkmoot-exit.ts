import { CommanderError } from 'commander'
import { isApiError } from '../../lib/errors.ts'
import { isStorageError, type StorageError } from '../../lib/storage/contract.ts'
import { errorLine } from '../json.ts'
import { fault, type Paint } from '../output.ts'
import { CommandFailure, Ended, Interrupted, UsageError } from '../usage.ts'

/** The end of a program that cannot continue. */
export interface Exit {
  readonly code: 0 | 1 | 2 | 130
  /** For standard error; empty if everything has been written. */
  readonly text: string
}

/** Codes of causes that last until a person changes something: rights, paths, disks, passwords, a missing package. */
const lasting = [
  'EACCES',
  'EISDIR',
  'ENOENT',
  'ENOTDIR',
  'EPERM',
  'EROFS',
  'ERR_MODULE_NOT_FOUND',
  '28000',
  '28P01',
  '3D000',
  '42501',
]

/** Errors of a database or a disk that may be over soon. After the exit code 2 systemd would not start a service again. */
export function isPassing(error: unknown): error is StorageError {
  if (!isStorageError(error)) return false
  const { cause } = error
  if (cause instanceof Error && 'code' in cause && lasting.includes(String(cause.code))) return false
  return ['unavailable', 'full', 'conflict', 'unknown'].includes(error.code)
}

/** Refusals of a value that the command line gives. Any other refusal, such as a record that is not there, is a failure. */
const aboutValues = [400, 422]

/** Whether the command line, a setting or a file has to change before the command can work. */
const isAboutUsage = (error: unknown): boolean =>
  !(error instanceof CommandFailure || (isApiError(error) && !aboutValues.includes(error.status)))

/** The end of `folkmoot` after an error: 2 for wrong usage or configuration, 1 for a failure, which may be over soon. */
export async function folkmootExit(error: unknown, json: boolean, paint?: Paint): Promise<Exit> {
  if (error instanceof CommanderError) return { code: error.exitCode === 0 ? 0 : 2, text: '' }
  if (error instanceof Interrupted) return { code: 130, text: '' }
  // Loaded late, so that help and usage errors come without delay.
  const { isEncryptionError } = await import('../../lib/outbox/encryption.ts')
  const expected = error instanceof UsageError || [isStorageError, isApiError, isEncryptionError].some((isOne) => isOne(error))
  const whole = error instanceof Error ? (error.stack ?? error.message) : String(error)
  const text = errorLine('folkmoot', expected || error instanceof Ended ? fault(error) : whole, json, paint)
  // Calls of the library throw a failure of the storage as the cause of an error.
  const trouble = isApiError(error) ? error.cause : error
  return { code: expected && isAboutUsage(error) && !isPassing(trouble) ? 2 : 1, text }
}
