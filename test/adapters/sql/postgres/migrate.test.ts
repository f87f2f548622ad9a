/** Migrations that take longer than a statement may, on a real PostgreSQL. */
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { postgresDialect } from '../../../../adapters/sql/postgres/dialect.ts'
import { migrateOn } from '../../../../adapters/sql/postgres/migrate.ts'
import { postgresStorage } from '../../../../adapters/storage/postgres.ts'
import { testPostgres, uniqueName } from '../../../support/postgres.ts'

const server = await testPostgres()

test.for([{ pipeline: false }, { pipeline: true }])(
  'a migration waits for that of another process beyond the time limit of a statement: %o',
  async ({ pipeline }) => {
    const schema = server.newSchema()
    const pool = server.pool({ query_timeout: 200, statement_timeout: 200, pipeline })
    const other = new pg.Client({ connectionString: server.url })
    await other.connect()
    onTestFinished(() => other.end())
    await other.query('BEGIN')
    await other.query('SELECT pg_advisory_xact_lock(hashtext($1))', [`folkmoot migrate ${schema}`])
    const migrated = migrateOn(pool, postgresDialect(schema), {
      version: 1,
      tables: [{ name: 'leaves', columns: { seq: { type: 'identity' } } }],
    })
    const waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    await expect.poll(async () => (await other.query(waiting)).rows.length).toBeGreaterThan(0)
    await other.query('SELECT pg_sleep(0.5)')
    await other.query('COMMIT')
    expect(await migrated).toContainEqual(expect.stringContaining('CREATE TABLE'))
  },
)

test('a database whose encoding lacks most letters is refused before anything is made in it', async () => {
  const admin = await server.client()
  const name = uniqueName('latin')
  await admin.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'`)
  const url = Object.assign(new URL(server.url), { pathname: `/${name}` }).href
  try {
    await expect(postgresStorage({ url })).rejects.toMatchObject({
      code: 'unavailable',
      message: "the database has the encoding LATIN1; make one with ENCODING 'UTF8'",
    })
  } finally {
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
  }
})
