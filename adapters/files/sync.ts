/**
 * Syncs open files: by the methods of their handles, and by their numbers where those are missing. Yarn's Plug'n'Play replaces the
 * handles of Node by some whose `sync` and `datasync` throw. The permission model of Node 24 allows no sync by number.
 */
import { constants, fdatasync, fsync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { platform } from 'node:os'
import { promisify } from 'node:util'

type Synced = Pick<FileHandle, 'fd' | 'sync' | 'datasync'>

const byNumber = { sync: promisify(fsync), datasync: promisify(fdatasync) }

async function synced(handle: Synced, how: keyof typeof byNumber): Promise<void> {
  try {
    await handle[how]()
  } catch (error) {
    if (!(error instanceof Error && /^Method not implemented/.test(error.message))) throw error
    await byNumber[how](handle.fd)
  }
}

/** Resolves when content and size are on the disk. @throws the error of the file system */
export const syncContent = (handle: Synced): Promise<void> => synced(handle, 'datasync')

/** Resolves when everything is on the disk. @throws the error of the file system */
export const syncWhole = (handle: Synced): Promise<void> => synced(handle, 'sync')

/**
 * Resolves when the names in a directory are on the disk. Windows refuses to sync a directory (`EPERM`): its file system keeps names
 * in a journal of its own.
 * @throws the error of the file system
 */
export async function syncDirectory(path: string): Promise<void> {
  if (platform() === 'win32') return
  const directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await syncWhole(directory)
  } finally {
    await directory.close()
  }
}
