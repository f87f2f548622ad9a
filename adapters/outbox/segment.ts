/** One segment under one writer: append durably, or give the segment up for good. */
import { join } from 'node:path'
import { StorageError } from '../../lib/storage/contract.ts'
import { fileError } from '../files/errors.ts'
import type { FileSystem, OpenFile } from '../files/file-system.ts'
import { writeWhole } from '../files/whole.ts'

export interface Segment {
  /** Bytes that are durable. */
  readonly length: number
  /**
   * Appends pieces, one after the other, each with its sync. After a failure the segment accepts nothing more. The effect of a
   * failed sync is unknown. A second sync of the same file may report success for pages that the kernel has dropped.
   * @throws StorageError `full` or `unavailable`
   */
  append(pieces: Iterable<Uint8Array>): Promise<void>
  close(): Promise<void>
}

/**
 * Creates a segment. Its name is durable when this resolves.
 * @throws StorageError `full` or `unavailable`
 */
export async function createSegment(files: FileSystem, directory: string, name: string): Promise<Segment> {
  const path = join(directory, name)
  let file: OpenFile
  try {
    file = await files.create(path, { synced: true })
  } catch (error) {
    throw fileError(`outbox segment ${name} cannot be created`, error)
  }
  try {
    await files.syncDirectory(directory)
  } catch (error) {
    await abandon(files, file, path, 0)
    throw fileError(`outbox directory ${directory} cannot be synced`, error)
  }
  let length = 0
  let usable = true

  return {
    get length() {
      return length
    },
    async append(pieces) {
      if (!usable) throw new StorageError('unavailable', `outbox segment ${name} was abandoned`)
      try {
        let end = length
        for (const bytes of pieces) {
          await writeWhole(file, bytes, end)
          end += bytes.length
        }
        // No reader finds a segment without a name: its directory was removed under us.
        if (file.links() === 0) throw new Error('the file was removed')
        length = end
      } catch (error) {
        usable = false
        await abandon(files, file, path, length)
        throw fileError(`outbox segment ${name} cannot be written`, error)
      }
    },
    async close() {
      if (!usable) return
      usable = false
      await file.close()
    },
  }
}

/** Truncates bytes that are not durable, as far as the file system allows; the reader copes with the rest. */
async function abandon(files: FileSystem, file: OpenFile, path: string, length: number): Promise<void> {
  await file.truncate(length).catch(() => undefined)
  await file.close().catch(() => undefined)
  if (length === 0) await files.remove(path).catch(() => undefined)
}
