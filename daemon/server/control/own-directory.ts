/** Directories of control files that have no storage's file beside them. */
import { lstat, readdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '../../../adapters/files/errors.ts'
import { newTemporaryDirectory } from '../temporary.ts'
import { socketNameOf } from './place.ts'

const prefix = 'folkmoot-control-'
/** Leftovers that one start removes at most, so that it never takes long. */
const mostRemoved = 100

/** The control file in such a directory. */
export const controlFileIn = (directory: string): string => join(directory, 'server.control')

/** Makes a directory for the control of this process alone. Those of killed servers of the same user are removed. */
export async function makeControlDirectory(): Promise<string> {
  const own = await newTemporaryDirectory(prefix)
  await removeLeftovers(own).catch(() => undefined)
  return own
}

async function removeLeftovers(own: string): Promise<void> {
  const { uid } = await lstat(own)
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(prefix))
  for (const name of names.slice(0, mostRemoved)) {
    const directory = join(tmpdir(), name)
    const found = await lstat(directory).catch(() => undefined)
    const isOurs = found?.isDirectory() === true && found.uid === uid
    if (isOurs && (await isLeft(directory))) await rm(directory, { recursive: true, force: true })
  }
}

/** Whether there is a socket and nobody listens on it. Without a socket its server may be about to listen. */
function isLeft(directory: string): Promise<boolean> {
  const file = controlFileIn(directory)
  return new Promise((resolve) => {
    const socket = connect(join(directory, socketNameOf(file)), () => {
      socket.destroy()
      resolve(false)
    })
    socket.on('error', (error) => resolve(errorCode(error) === 'ECONNREFUSED'))
  })
}
