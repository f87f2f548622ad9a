/** Where the control of a running server is: a file that only its user may read, which names a socket and the token for it. */

import { randomUUID } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { platform } from 'node:process'
import { errorCode } from '../../../adapters/files/errors.ts'
import { objectIn } from '../../../lib/base/json-object.ts'
import { withoutPassword } from '../../../lib/base/without-password.ts'
import { UsageError } from '../../usage.ts'

/** Goes up when an older command cannot talk to a newer server. */
const version = 1

/** The `Host` of every request; no browser sends this name, and none can reach a socket. */
export const controlHost = 'folkmoot-control'

export interface ControlFile {
  readonly pid: number
  /** A socket's name in the directory of the file, or a pipe of Windows. */
  readonly socket: string
  readonly token: string
}

export const controlFileOf = (path: string): string => `${path}.control`

export const socketNameOf = (file: string): string =>
  platform === 'win32' ? `\\\\.\\pipe\\folkmoot-${randomUUID()}` : `${basename(file)}.sock`

/** Puts the file there atomically, with its whole text. */
export async function writeControlFile(file: string, control: ControlFile): Promise<void> {
  const written = `${file}.${randomUUID()}.tmp`
  await writeFile(written, `${JSON.stringify({ folkmoot_control: version, ...control })}\n`, { mode: 0o600, flag: 'wx' })
  await rename(written, file).catch(async (error: unknown) => {
    await rm(written, { force: true })
    throw error
  })
}

/**
 * Reads a control file.
 * @returns `undefined` if it does not exist
 * @throws UsageError when it belongs to another user, or is no such file
 */
export async function readControlFile(file: string): Promise<ControlFile | undefined> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined
    if (['EACCES', 'EPERM'].includes(errorCode(error)))
      throw new UsageError(`${file} belongs to another user: run the command as the user of the server`)
    throw new UsageError(`${file} cannot be read (${errorCode(error)})`)
  })
  return text === undefined ? undefined : parseControlFile(file, text)
}

function parseControlFile(file: string, text: string): ControlFile {
  const found = objectIn(text) ?? {}
  if (typeof found['folkmoot_control'] !== 'number')
    throw new UsageError(`${withoutPassword(file)} is not the control file of a server`)
  if (found['folkmoot_control'] !== version)
    throw new UsageError(`${file} is of a server of another version: use the command of that version`)
  const { pid, socket, token } = found
  const isName = typeof socket === 'string' && (/^[^/\\]+\.sock$/.test(socket) || /^\\\\\.\\pipe\\folkmoot-[\w-]+$/.test(socket))
  if (typeof pid !== 'number' || !isName || typeof token !== 'string')
    throw new UsageError(`${file} is damaged: start the server again`)
  return { pid, socket, token }
}

/** The longest name of a socket: 104 bytes on some systems, 108 on others. */
const longestName = 100

/** A socket's name for the kernel; `release` when it is no longer needed. */
export interface SocketAddress {
  readonly path: string
  release(): void
}

/** The address of a socket next to a control file, however long its path is. */
export function socketAddress(file: string, socket: string): SocketAddress {
  const path = socket.startsWith('\\\\') ? socket : join(dirname(file), socket)
  if (platform === 'win32' || Buffer.byteLength(path) <= longestName) return { path, release() {} }
  if (platform !== 'linux')
    throw new UsageError(`${path} is too long for the name of a socket: keep the storage in a shorter path`)
  const directory = openSync(dirname(path), 'r')
  return { path: `/proc/self/fd/${directory}/${socket}`, release: () => closeSync(directory) }
}
