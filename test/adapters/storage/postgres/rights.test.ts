/** A role with the rights that the documentation gives to servers, and no more. */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { postgresStorage } from '../../../../adapters/storage/postgres.ts'
import { members } from '../../../../lib/storage/tables/members.ts'
import { testPostgres } from '../../../support/postgres.ts'

const server = await testPostgres()

test('a role that may not make indexes starts, also once the database has pg_trgm', async () => {
  const schema = server.newSchema()
  const role = `role_${randomUUID().replaceAll('-', '')}`
  await (await postgresStorage({ url: server.url, schema })).close()
  const admin = await server.client()
  await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'few'; GRANT USAGE ON SCHEMA ${schema} TO ${role};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${role}; CREATE EXTENSION pg_trgm`)
  onTestFinished(async () => void (await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)))
  const url = Object.assign(new URL(server.url), { username: role, password: 'few' }).href
  const storage = await postgresStorage({ url, schema })
  const found = await storage.transaction((tx) => tx.find(members, { contains: { search_key: ['ada'] } }))
  await storage.close()
  expect(found).toEqual([])
})
