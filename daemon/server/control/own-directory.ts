/**
 * A temporary directory for each server of this machine. It has a note about the server, by which commands of the same user find
 * its control. It has the control file, too, if the storage has no file that belongs to one process.
 */
import { lstat, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { basename, join } from 'node:path'
import { errorCode } from '../../../adapters/files/errors.ts'
import { newTemporaryDirectory } from '../storage/temporary-directory.ts'
import { readControlFile, socketAddress, socketNameOf } from './place.ts'

const prefix = 'folkmoot-control-'
/** Leftovers that one start removes at most, so that it never takes long. */
const mostRemoved = 100
/** Directories that one command looks into at most. */
const mostNotes = 1000

export const controlFileIn = (directory: string): string => join(directory, 'server.control')

export interface RunningServer {
  readonly pid: number
  /** Its control file, as an absolute path. */
  readonly control: string
  /** Its storage, as `storageName` names it. */
  readonly storage: string
  /** The origin at which it listens. */
  readonly url: string
}

const noteIn = (directory: string): string => join(directory, 'server.json')

/** Makes the directory of this process. Those of killed servers of the same user are removed. */
export async function makeControlDirectory(): Promise<string> {
  const own = await newTemporaryDirectory(prefix)
  await removeLeftovers(own).catch(() => undefined)
  return own
}

export const noteServer = (directory: string, server: RunningServer): Promise<void> =>
  writeFile(noteIn(directory), JSON.stringify(server), { mode: 0o600 })

/** The servers of this user that run, as far as they have left a note. */
export async function runningServers(): Promise<readonly RunningServer[]> {
  const own = ownDirectories(mostNotes, userId())
  const servers: RunningServer[] = []
  for await (const directory of own) {
    const server = await noteOf(directory)
    if (server && (await listens(server))) servers.push(server)
  }
  return servers
}

/** The number of the user; a container's user may have none. */
function userId(): number | undefined {
  try {
    return userInfo().uid
  } catch {
    return undefined
  }
}

/** Where servers have their directories. A service of the unit in the package has its temporary files in the second one. */
const places = (): readonly string[] => [...new Set([tmpdir(), '/run/folkmoot'])]

/** The directories of servers that this user has made: anybody may make others there. */
async function* ownDirectories(most: number, uid: number | undefined): AsyncGenerator<string> {
  const found = await Promise.all(
    places().map(async (place) => (await readdir(place).catch(() => [])).map((name) => join(place, name))),
  )
  const directories = found.flat().filter((path) => basename(path).startsWith(prefix))
  for (const directory of directories.slice(0, most)) {
    const found = await lstat(directory).catch(() => undefined)
    if (found?.isDirectory() === true && (uid === undefined || found.uid === uid)) yield directory
  }
}

async function removeLeftovers(own: string): Promise<void> {
  const { uid } = await lstat(own)
  for await (const directory of ownDirectories(mostRemoved, uid))
    if (directory !== own && (await isLeft(directory))) await rm(directory, { recursive: true, force: true })
}

/** Whether its server is gone. Without a note and without a socket, a server may be about to listen. */
async function isLeft(directory: string): Promise<boolean> {
  const server = await noteOf(directory)
  if (server) return !(await listens(server))
  return (await outcomeOf(join(directory, socketNameOf(controlFileIn(directory))))) === 'ECONNREFUSED'
}

async function noteOf(directory: string): Promise<RunningServer | undefined> {
  try {
    const note: Partial<Record<keyof RunningServer, unknown>> = JSON.parse(await readFile(noteIn(directory), 'utf8'))
    const { pid, control, storage, url } = note
    return typeof pid === 'number' ? { pid, control: String(control), storage: String(storage), url: String(url) } : undefined
  } catch {
    return undefined
  }
}

/** Whether the control of a server listens, and is not that of a later server on the same file. */
async function listens({ control, pid }: RunningServer): Promise<boolean> {
  const found = await readControlFile(control).catch(() => undefined)
  if (found?.pid !== pid) return false
  const { path, release } = socketAddress(control, found.socket)
  return (await outcomeOf(path).finally(release)) === 'connected'
}

/** What comes of a connection: `connected`, or the code of the error. */
function outcomeOf(path: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy()
      resolve('connected')
    })
    socket.on('error', (error) => resolve(errorCode(error)))
  })
}
