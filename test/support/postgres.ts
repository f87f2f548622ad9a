/** A real PostgreSQL for tests: the one that `DATABASE_URL` names, or one from npm that all files of a run share. */
import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, onTestFinished } from 'vitest'
import { shared } from './shared.ts'

export interface TestPostgres {
  /** A database of this file's own. */
  readonly url: string
  /** A schema name that no one else uses. */
  newSchema(): string
  /** Removes a schema with everything in it. */
  drop(schema: string): Promise<void>
  /** A connection of the test's own, which is closed with the last test. */
  client(): Promise<pg.Client>
  /** A pool as a host has it, to this database. It is closed with the test. */
  pool(options?: pg.PoolConfig): pg.Pool
}

/** The server that `DATABASE_URL` names, or the one of this run. */
export async function postgresAddress(): Promise<string> {
  const named = process.env['DATABASE_URL']
  if (named) return named
  return shared('postgres')
}

/** A name that no one else on the server uses: the numbers of processes come again. */
export const uniqueName = (kind: string): string => `${kind}_${randomUUID().replaceAll('-', '')}`

/** Makes a database for this test file, which goes after its last test. */
export async function testPostgres(): Promise<TestPostgres> {
  const server = await postgresAddress()
  const name = uniqueName('test')
  const admin = new pg.Client({ connectionString: server })
  await admin.connect()
  await admin.query(`CREATE DATABASE ${name}`)
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).href
  const clients: pg.Client[] = []
  let count = 0

  async function client(): Promise<pg.Client> {
    const another = new pg.Client({ connectionString: url })
    another.on('error', () => {})
    await another.connect()
    clients.push(another)
    return another
  }
  const own = await client()

  function pool(options: pg.PoolConfig = {}): pg.Pool {
    const made = new pg.Pool({ connectionString: url, ...options })
    // A connection may still be closing when the database is dropped.
    made.on('error', () => {})
    onTestFinished(() => made.end())
    return made
  }

  afterAll(async () => {
    for (const each of clients) await each.end()
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
    await admin.end()
  })

  return {
    url,
    newSchema: () => `test_${++count}`,
    drop: async (schema) => void (await own.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)),
    client,
    pool,
  }
}
