/**
 * The file under lowdb. The file adapter of lowdb renames without syncing, so that a power cut may leave an empty file. This
 * one is durable when it resolves, and keeps the old content until the new one is complete.
 */
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Adapter } from 'lowdb'
import { StorageError } from '../../../lib/storage/contract.ts'
import { errorCode, fileError } from '../../files/errors.ts'
import type { FileSystem } from '../../files/file-system.ts'
import { writeWhole } from '../../files/whole.ts'

export interface SyncedFile<T> extends Adapter<T> {
  /** Bytes at the last reading or writing. */
  readonly size: number
  /** Removes what a crash in the middle of a write left behind. */
  clean(): Promise<void>
}

/**
 * A file of JSON that is written as a whole: to a temporary file, synced, renamed, and its directory synced.
 *
 * @param path the file, without symbolic links: a rename would replace the link
 * @param parse makes the content of the bytes
 * @param files the file system
 * @returns an adapter whose `write` takes the content before it first awaits. Its methods reject with StorageError `full` or
 * `unavailable`, or with an error of `parse`. A `write` that rejects has left the old content, unless it rejects with
 * `unknown`: the last step failed, the sync of the directory. Then the next write settles which content it is.
 */
export function syncedFile<T>(path: string, parse: (bytes: Uint8Array) => T, files: FileSystem): SyncedFile<T> {
  const temporary = `${path}.tmp`
  let size = 0

  const clean = () => files.remove(temporary).catch((error: unknown) => ignore('ENOENT', error))

  async function writeTemporary(bytes: Uint8Array) {
    await clean()
    const file = await files.create(temporary)
    try {
      await writeWhole(file, bytes)
      await file.sync()
    } finally {
      await file.close()
    }
  }

  return {
    get size() {
      return size
    },
    clean,

    async read() {
      let bytes: Uint8Array
      try {
        bytes = await readFile(path)
      } catch (error) {
        if (errorCode(error) === 'ENOENT') return null
        throw fileError(`${path} cannot be read`, error)
      }
      size = bytes.length
      return parse(bytes)
    },

    async write(content) {
      const bytes = Buffer.from(JSON.stringify(content))
      try {
        await writeTemporary(bytes)
        await files.rename(temporary, path)
      } catch (error) {
        // On a full disk the half-written file would take the space that others wait for.
        await clean().catch(() => undefined)
        throw fileError(`${path} cannot be written; it still holds what was committed before`, error)
      }
      await files.syncDirectory(dirname(path)).catch((cause: unknown) => {
        throw new StorageError(
          'unknown',
          `the directory of ${path} cannot be synced, so it may hold the new content or the old`,
          {
            cause,
          },
        )
      })
      size = bytes.length
    },
  }
}

function ignore(code: string, error: unknown) {
  if (errorCode(error) !== code) throw error
}
