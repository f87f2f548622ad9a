/**
 * The small part of a file system that the outbox needs, as an interface. Tests inject short writes, I/O errors, failing syncs
 * and full disks through it.
 */
import { constants, fstatSync, watch } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { open, readdir, rename, unlink } from 'node:fs/promises'
import { makeDirectory } from './directory.ts'

export interface OpenFile {
  /** Writes at a byte offset and returns the number of bytes written; that may be fewer. */
  write(bytes: Uint8Array, position: number): Promise<number>
  /** Reads from a byte offset and returns the number of bytes; 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>
  /** fdatasync. */
  sync(): Promise<void>
  truncate(length: number): Promise<void>
  /** Its size in bytes. */
  size(): Promise<number>
  /** How many names it still has; said at once, the file being open. */
  links(): number
  close(): Promise<void>
}

export interface FileSystem {
  /** Creates a directory of mode 0700 and those above it; nothing happens when it exists. */
  makeDirectory(path: string): Promise<void>
  /** Creates a file of mode 0600 that must not exist. */
  create(path: string): Promise<OpenFile>
  /** Opens a regular file for reading; a link, a directory or a device is refused. */
  open(path: string): Promise<OpenFile>
  list(directory: string): Promise<readonly string[]>
  rename(from: string, to: string): Promise<void>
  remove(path: string): Promise<void>
  /** Makes the names in a directory durable. */
  syncDirectory(directory: string): Promise<void>
  /** Calls with the name of a file that changed, or null when it is not known. The result ends it. */
  watch(directory: string, changed: (name: string | null) => void): () => void
}

function openFile(handle: FileHandle): OpenFile {
  return {
    async write(bytes, position) {
      return (await handle.write(bytes, 0, bytes.length, position)).bytesWritten
    },
    async read(into, position) {
      return (await handle.read(into, 0, into.length, position)).bytesRead
    },
    sync: () => handle.datasync(),
    truncate: (length) => handle.truncate(length),
    async size() {
      return (await handle.stat()).size
    },
    links: () => fstatSync(handle.fd).nlink,
    close: () => handle.close(),
  }
}

/** The file system of this machine. */
export const nodeFileSystem: FileSystem = {
  async makeDirectory(path) {
    makeDirectory(path, 0o700)
  },
  async create(path) {
    return openFile(await open(path, 'wx', 0o600))
  },
  async open(path) {
    // Never follow a link that somebody placed here, nor block for ever on a named pipe.
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    if ((await handle.stat()).isFile()) return openFile(handle)
    await handle.close()
    throw Object.assign(new Error(`${path} is not a regular file`), { code: 'EFTYPE' })
  },
  list: (directory) => readdir(directory),
  rename: (from, to) => rename(from, to),
  remove: (path) => unlink(path),
  async syncDirectory(directory) {
    const handle = await open(directory, constants.O_RDONLY | constants.O_DIRECTORY)
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  },
  watch(directory, changed) {
    const watcher = watch(directory, { persistent: false }, (_, name) => changed(name))
    // A hint and nothing more: without inotify handles the reader's own polling finds the change.
    watcher.on('error', () => watcher.close())
    return () => watcher.close()
  },
}
