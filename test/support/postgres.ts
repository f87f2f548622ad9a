/** A real PostgreSQL for tests: the one that `DATABASE_URL` names, or one from npm that is started for a test file. */
import pg from 'pg'
import { afterAll } from 'vitest'
import { startPostgres } from './postgres-server.ts'

export interface TestPostgres {
  readonly url: string
  /** A schema name that nobody else uses. */
  newSchema(): string
  /** Removes a schema with everything in it. */
  drop(schema: string): Promise<void>
  /** A connection of the test's own, which is closed with the server. */
  client(): Promise<pg.Client>
}

/** Starts PostgreSQL for this test file, and stops it after the last test. */
export async function testPostgres(): Promise<TestPostgres> {
  const named = process.env['DATABASE_URL']
  const server = named ? { url: named, stop: async () => {} } : await startPostgres()
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
