/**
 * The small part of a file system that the outbox needs, as an interface. Tests inject short writes, I/O errors, failing syncs
 * and full disks through it.
 */
import { constants, fstatSync, watch } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { open, readdir, readFile, rename, statfs, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeDirectory } from './directory.ts'
import { syncContent, syncDirectory } from './sync.ts'

/** A file that is open. */
export interface OpenFile {
  /** Writes at a byte offset and returns the number of bytes written; that may be fewer. */
  write(bytes: Uint8Array, position: number): Promise<number>
  /** Reads from a byte offset and returns the number of bytes; 0 at the end. */
  read(into: Uint8Array, position: number): Promise<number>
  /** fdatasync. */
  sync(): Promise<void>
  /** Cuts the file off at this many bytes. */
  truncate(length: number): Promise<void>
  /** Its size in bytes. */
  size(): Promise<number>
  /** How many names it still has; synchronous, because the file is open. */
  links(): number
  /** Frees its descriptor. */
  close(): Promise<void>
}

/** As much of a file system as an outbox needs. */
export interface FileSystem {
  /** Creates a directory of mode 0700 and those above it; nothing happens when it exists. */
  makeDirectory(path: string): Promise<void>
  /** Creates a file of mode 0600 that must not exist. With `synced`, what a `write` wrote is on the disk when it resolves. */
  create(path: string, options?: { readonly synced?: boolean }): Promise<OpenFile>
  /** Opens a regular file for reading; a link, a directory or a device is refused. */
  open(path: string): Promise<OpenFile>
  /** The names in a directory, in no order. */
  list(directory: string): Promise<readonly string[]>
  /** Gives a file another name; a file of that name is replaced. */
  rename(from: string, to: string): Promise<void>
  /** Removes a file. */
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
    sync: () => syncContent(handle),
    truncate: (length) => handle.truncate(length),
    async size() {
      return (await handle.stat()).size
    },
    links: () => fstatSync(handle.fd).nlink,
    close: () => handle.close(),
  }
}

const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL

/** With this flag each write is synced: one call costs less than two. Systems without the flag have no number for it. */
const syncing = constants.O_DSYNC ?? 0

/** ext2 to ext4, XFS and Btrfs on Linux, by the numbers that `statfs` has for them. */
const syncingTypes: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x9123683e])

/** Whether the file system is one that minds the flag. One in user space may ignore it. */
const knowsSyncing = (directory: string): Promise<boolean> =>
  statfs(directory).then(
    ({ type }) => syncingTypes.has(type),
    () => false,
  )

/** Whether the kernel has the flag for an open file. Runtimes other than Node may leave it out. */
async function isSyncing({ fd }: FileHandle): Promise<boolean> {
  if (syncing === 0) return false
  const facts = await readFile(`/proc/self/fdinfo/${fd}`, 'utf8').catch(() => '')
  return (Number.parseInt(/^flags:\s+(\d+)$/m.exec(facts)?.[1] ?? '0', 8) & syncing) !== 0
}

const syncedBySecondCall = (file: OpenFile): OpenFile => ({
  ...file,
  async write(bytes, position) {
    const written = await file.write(bytes, position)
    await file.sync()
    return written
  },
})

export const nodeFileSystem: FileSystem = {
  async makeDirectory(path) {
    makeDirectory(path)
  },
  async create(path, { synced = false } = {}) {
    if (!synced) return openFile(await open(path, newFile, 0o600))
    const handle = await open(path, (await knowsSyncing(dirname(path))) ? newFile | syncing : newFile, 0o600)
    const file = openFile(handle)
    return (await isSyncing(handle)) ? file : syncedBySecondCall(file)
  },
  async open(path) {
    // Never follow a link that was placed here, nor block for ever on a named pipe.
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    if ((await handle.stat()).isFile()) return openFile(handle)
    await handle.close()
    throw Object.assign(new Error(`${path} is not a regular file`), { code: 'EFTYPE' })
  },
  list: (directory) => readdir(directory),
  rename: (from, to) => rename(from, to),
  remove: (path) => unlink(path),
  syncDirectory,
  watch(directory, changed) {
    const watcher = watch(directory, { persistent: false }, (_, name) => changed(name))
    // A hint and nothing more: without inotify handles the reader's own polling finds the change.
    watcher.on('error', () => watcher.close())
    return () => watcher.close()
  },
}
