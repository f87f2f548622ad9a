/** Making a SQLite file, before SQLite opens it. */
import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs'
import { StorageError } from '../../../lib/storage/contract.ts'

/**
 * Creates a file with mode 0600 if it is missing. One that is there is not opened, because closing it would drop all locks of
 * the process on it. SQLite has such locks for other connections. Without them another process may delete the log in use.
 *
 * @throws an error of the file system, also if the file may not be written
 */
export function makeFile(path: string): void {
  const there = statSync(path, { throwIfNoEntry: false })
  if (there?.isDirectory()) {
    const cause = Object.assign(new Error('a directory cannot be opened as a file'), { code: 'EISDIR' })
    throw new StorageError('unavailable', `${path} is a directory: name a file in it`, { cause })
  }
  if (there) accessSync(path, constants.R_OK | constants.W_OK)
  else closeSync(openSync(path, 'a', 0o600))
}
