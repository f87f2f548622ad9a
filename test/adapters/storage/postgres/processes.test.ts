/** The rows of PostgreSQL when the process that wrote them is gone. */
import { expect, test } from 'vitest'
import { postgresOutbox, postgresStorage } from '../../../../adapters/storage/postgres.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { rounds as roundsOf } from '../../../support/rounds.ts'
import { startChild } from '../../child.ts'
import { recordsOf } from '../records-of.ts'
import { insertAndTell, things } from '../things.ts'

const server = await testPostgres()
const client = await server.client()
const rounds = roundsOf(2, 15)

test('kill -9 at any moment loses nothing acknowledged, row or event, and leaves no lock behind', {
  timeout: 180_000,
}, async () => {
  const schema = server.newSchema()
  const storage = await postgresStorage({ url: server.url, schema, tables: [things] })
  await insertAndTell(storage, 1)

  const acknowledged: string[] = []
  for (let round = 0; round < rounds; round++) {
    const child = startChild('postgres-write-for-ever', [server.url, schema, String((round + 1) * 1_000_000)])
    await child.lines(10 + round * 7)
    await child.kill()
    acknowledged.push(...(await child.lines(0)))
    const locks = () =>
      client.query('SELECT 1 FROM pg_locks JOIN pg_class ON pg_class.oid = relation WHERE relnamespace = $1::regnamespace', [
        schema,
      ])
    await expect.poll(async () => (await locks()).rows.length).toBe(0)
  }

  const stored = await storage.transaction((tx) => tx.find(things, {}), { readOnly: true })
  const counter = stored.find(({ id }) => id === '1')
  const ids = stored.map(({ id }) => id)
  await insertAndTell(storage, 2)
  await storage.close()
  const events = (await recordsOf(await postgresOutbox({ url: server.url, schema }))).map((record) =>
    record.kind === 'event' ? record.event_id : '',
  )
  expect(acknowledged.length).toBeGreaterThan(rounds * 10)
  expect(acknowledged.filter((id) => !ids.includes(id))).toEqual([])
  expect(events.sort()).toEqual([...ids, '2'].sort())
  expect(counter?.size).toBe(ids.length - 1)
})
