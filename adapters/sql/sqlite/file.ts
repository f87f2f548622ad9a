/** Making a SQLite file, before SQLite opens it. */
import { accessSync, closeSync, constants, openSync, statSync } from 'node:fs'
import { StorageError } from '../../../lib/storage/contract.ts'

/**
 * Bytes that the write-ahead log keeps when it starts over, for `PRAGMA journal_size_limit`. It grows while a reader uses an old
 * snapshot, and without a limit it would stay as large as it ever was. This is what it comes to between two checkpoints.
 */
export const logBytesKept = 16 * 1024 * 1024

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

/**
 * Watches the file that is open. SQLite does not notice that another one was moved to its path, and writes to the one without a name.
 * Its writes would be lost.
 *
 * @returns a function that throws StorageError `unavailable` when the path names another file, or none
 */
export function watchFile(path: string): () => void {
  const find = () => statSync(path, { bigint: true, throwIfNoEntry: false })
  const opened = find()
  return () => {
    const there = find()
    if (there && there.ino === opened?.ino && there.dev === opened.dev) return
    const change = there ? 'another file has its place' : 'it was removed or moved'
    throw new StorageError('unavailable', `${path}: ${change} while it was open. Nothing was written; start this process again`)
  }
}
