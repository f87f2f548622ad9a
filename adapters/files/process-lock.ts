/**
 * One process per path, for files that two processes would spoil.
 *
 * The lock is a file `<path>.lock` that names its owner, and two sockets show whether that owner lives:
 * - On Linux the owner has an abstract socket whose name is made of the path. The kernel gives it to one process only and
 *   takes it back in the moment in which that process dies.
 * - A socket next to the file serves processes of other containers, which see neither the owner nor its abstract socket.
 *   Without it a container that was killed and started again would find itself locked out by its own past.
 */
import { createHash, randomUUID } from 'node:crypto'
import { realpath, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { platform } from 'node:process'
import { StorageError } from '../../lib/storage/contract.ts'
import { errorCode, fileError } from './errors.ts'
import { claimFile, type LockRules, readLockFile } from './lock-file.ts'
import { listenOn, stopListening } from './lock-socket.ts'
import { mayRun, type Owner, parseOwner, thisProcess } from './owner.ts'

/** The owner of a path, and the purpose. */
export interface LockOwner extends Owner {
  readonly purpose: string
  /** The name of the owner's socket, in the directory of the path; null where none could be made. */
  readonly socket: string | null
}

export interface ProcessLock {
  /** The path that is held, without symbolic links. */
  readonly path: string
  /** Lets others have it. May be called again. */
  release(): Promise<void>
}

/**
 * Locks a path until it is released or the process ends in any way. The lock does not keep the process alive.
 *
 * @param path the path to lock; it need not exist, its directory must
 * @param purpose the use of the path, shown in the refusal of others: `lowdb storage`
 * @throws StorageError `locked` if another owner holds it, in this process or another one; the message names that process.
 * `full` or `unavailable` if the lock file cannot be written
 */
export async function acquireLock(path: string, purpose: string): Promise<ProcessLock> {
  const real = await realPath(path)
  const file = `${real}.lock`
  const token = randomUUID()

  const name = platform === 'linux' ? await listenOn(abstractName(real)) : undefined
  if (name === 'taken') throw locked(real, await lockOwner(real))
  const socket = `${basename(file)}.${token.slice(0, 8)}.sock`
  const listening = await listenOn(join(dirname(real), socket))
  const server = listening === 'taken' ? undefined : listening
  const letGo = async () => {
    await stopListening(server)
    await stopListening(name)
  }

  const text = `${JSON.stringify({ ...thisProcess(), purpose, socket: server ? socket : null, token })}\n`
  try {
    const other = await claimFile(file, text, rulesFor(dirname(real)))
    if (other !== undefined) throw locked(real, parseLockOwner(other))
  } catch (error) {
    await letGo()
    throw fileError(`the lock file ${file} cannot be written`, error)
  }

  let released: Promise<void> | undefined
  return {
    path: real,
    release() {
      // The file first: the next owner of the name must not find a living owner in the file.
      released ??= rm(file, { force: true }).finally(letGo)
      return released
    },
  }
}

/**
 * The present owner of a path.
 * @returns `undefined` if no process does, or the owner is dead
 */
export async function lockOwner(path: string): Promise<LockOwner | undefined> {
  const real = await realPath(path)
  const text = await readLockFile(`${real}.lock`)
  return text !== undefined && (await rulesFor(dirname(real)).isHeld(text)) ? parseLockOwner(text) : undefined
}

/**
 * A path without symbolic links, so that two ways to one file are one lock. The last part need not exist.
 * @throws StorageError `unavailable` when its directory does not exist
 */
export async function realPath(path: string): Promise<string> {
  const absolute = resolve(path)
  try {
    return await realpath(absolute)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw fileError(`${absolute} cannot be opened`, error)
  }
  try {
    return join(await realpath(dirname(absolute)), basename(absolute))
  } catch (error) {
    throw fileError(`the directory of ${absolute} cannot be opened`, error)
  }
}

function rulesFor(directory: string): LockRules {
  return {
    async isHeld(text) {
      const owner = parseLockOwner(text)
      return owner !== undefined && mayRun(owner, owner.socket === null ? undefined : join(directory, owner.socket))
    },
    async forget(text) {
      const socket = parseLockOwner(text)?.socket
      if (socket) await rm(join(directory, socket), { force: true })
    },
  }
}

function locked(path: string, owner: LockOwner | undefined): StorageError {
  return new StorageError(
    'locked',
    `${path} is held by ${owner ? describe(owner, path) : 'a process that is opening or closing it'}`,
  )
}

function describe(owner: LockOwner, path: string): string {
  const { pid, namespace } = thisProcess()
  const isOurs = owner.namespace === namespace
  const who = isOurs && owner.pid === pid ? `this process (${owner.purpose})` : `process ${owner.pid} (${owner.purpose})`
  if (isOurs) return who
  return `${who} in another container; if that container is gone, remove ${path}.lock`
}

function parseLockOwner(text: string): LockOwner | undefined {
  const owner = parseOwner(text)
  if (!owner) return undefined
  const { purpose, socket } = JSON.parse(text) as { readonly purpose?: unknown; readonly socket?: unknown }
  return {
    ...owner,
    purpose: typeof purpose === 'string' ? purpose : 'purpose unknown',
    // A name and nothing else: a forged file must not lead us, or a removal, out of the directory.
    socket: typeof socket === 'string' && /^[^/\\]+\.lock\.[0-9a-f]{8}\.sock$/.test(socket) ? socket : null,
  }
}

const abstractName = (path: string) => `\0folkmoot:${createHash('sha256').update(path).digest('hex').slice(0, 32)}`
