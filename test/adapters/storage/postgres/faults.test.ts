/** Faults that only a server has: connections that break, pools that are empty, locks that collide. */
import { expect, onTestFinished, test } from 'vitest'
import { type PostgresOptions, type PostgresStorage, postgresStorage } from '../../../../adapters/storage/postgres.ts'
import { createCommunity } from '../../../../lib/index.ts'
import { isUniqueViolation, type Tx } from '../../../../lib/storage/contract.ts'
import { elsewhere } from '../../../support/elsewhere.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { insertAndTell, storeAndTell, thing, thingIds, things } from '../things.ts'

const server = await testPostgres()
const admin = await server.client()

async function open(options: PostgresOptions = {}): Promise<PostgresStorage> {
  const from = options.pool ? {} : { url: server.url }
  const storage = await postgresStorage({ ...from, schema: server.newSchema(), tables: [things], ...options })
  onTestFinished(() => storage.close())
  return storage
}

interface Queries {
  query(text: string): Promise<{ rows: readonly Record<string, unknown>[] }>
}
const clientOf = (tx: Tx) => tx.native as Queries

/** The server's own end of a transaction's connection. */
const processOf = async (tx: Tx) => (await clientOf(tx).query('SELECT pg_backend_pid() AS pid')).rows[0]?.['pid']

async function terminate(pid: unknown): Promise<void> {
  await admin.query('SELECT pg_terminate_backend($1, 5000)', [pid])
}

test('a violated key that `work` catches leaves the transaction usable', async () => {
  const storage = await open()
  await storage.transaction(async (tx) => {
    await tx.insert(things, thing(1))
    await tx.insert(things, thing(2))
    const keys = [
      await tx.insert(things, thing(2)).catch((error: unknown) => isUniqueViolation(error) && error.key),
      await tx.insert(things, thing(3, { name: 'Thing 1' })).catch((error: unknown) => isUniqueViolation(error) && error.key),
      await tx.update(things, '2', { name: 'Thing 1' }).catch((error: unknown) => isUniqueViolation(error) && error.key),
    ]
    expect(keys).toEqual([['id'], ['network_id', 'name'], ['network_id', 'name']])
    await tx.insert(things, thing(4))
  })
  expect(await thingIds(storage)).toEqual(['1', '2', '4'])
})

test('a statement that fails undoes the transaction, even when `work` swallows the error', async () => {
  const storage = await open()
  const swallowed = storage.transaction(async (tx) => {
    await tx.insert(things, thing(1))
    await tx.insert(things, thing(2, { name: null as unknown as string })).catch(() => undefined)
    return 'all is well'
  })
  await expect(swallowed).rejects.toThrow(/null value/)
  expect(await thingIds(storage)).toEqual([])
})

test('while its tables are away, as under a restore, it is unavailable, and resumes by itself', async () => {
  const schema = server.newSchema()
  const storage = await open({ schema })
  await insertAndTell(storage, 1)
  const unavailable = { code: 'unavailable', message: expect.stringContaining('a restore is recreating them') }
  await admin.query(`ALTER TABLE ${schema}.things RENAME TO elsewhere`)
  await expect(insertAndTell(storage, 2)).rejects.toMatchObject(unavailable)
  await expect(thingIds(storage)).rejects.toMatchObject(unavailable)
  await admin.query(`ALTER TABLE ${schema}.elsewhere RENAME TO things`)
  await insertAndTell(storage, 3)
  expect(await thingIds(storage)).toEqual(['1', '3'])
})

test('a connection that breaks before the commit is a lost race: nothing was written, and the next try works', async () => {
  const storage = await open()
  const broken = storage.transaction(async (tx) => {
    await storeAndTell(tx, 1)
    await terminate(await processOf(tx))
    await tx.insert(things, thing(2))
  })
  await expect(broken).rejects.toMatchObject({ code: 'conflict' })
  await insertAndTell(storage, 3)
  expect(await thingIds(storage)).toEqual(['3'])
})

test('connections that break while no one uses them are replaced, and end no process', async () => {
  const storage = await open()
  const pids: unknown[] = []
  await Promise.all(
    Array.from({ length: 5 }, () => storage.transaction(async (tx) => void pids.push(await processOf(tx)), { readOnly: true })),
  )
  for (const pid of new Set(pids)) await terminate(pid)
  await Promise.all(Array.from({ length: 20 }, (_, id) => insertAndTell(storage, id + 1)))
  expect(await thingIds(storage)).toHaveLength(20)
})

test('of two transactions that lock each other out one is a lost race, and the other happens', async () => {
  const storage = await open()
  await storage.transaction(async (tx) => {
    for (const id of [1, 2]) await tx.insert(things, thing(id))
  })
  const both = Promise.withResolvers<void>()
  let holding = 0
  const hold = (first: string, second: string) =>
    storage.transaction(async (tx) => {
      await tx.update(things, first, { size: 1 })
      if (++holding === 2) both.resolve()
      await both.promise
      await tx.update(things, second, { size: 2 })
    })
  const outcomes = await Promise.allSettled([hold('1', '2'), hold('2', '1')])
  const lost = outcomes.filter((outcome) => outcome.status === 'rejected')
  expect(lost.map(({ reason }) => reason)).toEqual([expect.objectContaining({ code: 'conflict' })])
})

test('a statement that waits too long is canceled with a sentence', async () => {
  const storage = await open({ statementTimeoutMs: 100 })
  await insertAndTell(storage, 1)
  await storage.transaction(async (tx) => {
    await tx.update(things, '1', { size: 1 })
    const waiting = elsewhere(() => storage.transaction((other) => other.update(things, '1', { size: 2 })))
    await expect(waiting).rejects.toMatchObject({ code: 'unavailable' })
  })
  expect(await storage.transaction((tx) => tx.get(things, '1'))).toMatchObject({ size: 1 })
})

test('an empty pool is refused in time, and the API responds with 503 and Retry-After', async () => {
  const schema = server.newSchema()
  const storage = await postgresStorage({ url: server.url, schema, poolSize: 1, connectTimeoutMs: 200 })
  const community = createCommunity({ storage, allowHttp: true })
  onTestFinished(() => community.close())
  const { network } = await community.networks.create({
    subdomain: 'demo',
    title: 'Demo',
    owner: { email: 'a@example.org', first_name: 'A', last_name: 'B' },
  })
  const { token } = await community.keys.create({ network: network.id, name: 'test', scopes: ['*'] })
  await storage.transaction(async () => {
    const headers = { authorization: `Bearer ${token}` }
    const list = new Request(`http://api.test/admin/v1/networks/${network.id}/members`, { headers })
    const response = await elsewhere(() => community.fetch(list))
    expect({ status: response.status, after: response.headers.get('retry-after') }).toEqual({ status: 503, after: '5' })
  })
})

test("a host's own pool is used with a time limit, and stays the host's", async () => {
  const pool = server.pool({ max: 1 })
  const storage = await open({ pool, connectTimeoutMs: 200 })
  await insertAndTell(storage, 1)
  const held = await pool.connect()
  await expect(thingIds(storage)).rejects.toMatchObject({ code: 'unavailable' })
  held.release()
  expect(await thingIds(storage)).toEqual(['1'])
  await storage.close()
  expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
})

test('a server that is not there, and one that does not let us in, are refused without the password', async () => {
  const wrong = new URL(server.url)
  wrong.password = 'open-sesame'
  const nowhere = 'postgres://postgres:open-sesame@127.0.0.1:1/postgres'
  for (const url of [wrong.href, nowhere]) {
    const refused = await postgresStorage({ url, connectTimeoutMs: 500 }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'unavailable' })
    expect(String(refused)).not.toContain('open-sesame')
  }
})

test('text that PostgreSQL cannot keep is refused before it spoils the transaction', async () => {
  const storage = await open()
  await storage.transaction(async (tx) => {
    await tx.insert(things, thing(1))
    for (const name of ['a\0b', '\ud800']) {
      await expect(tx.insert(things, thing(2, { name }))).rejects.toThrow(RangeError)
      expect(await tx.find(things, { where: { name } })).toEqual([])
    }
    expect(await tx.get(things, 'no id')).toBeUndefined()
    expect(await tx.find(things, { where: { size: 1.5 } })).toEqual([])
  })
  expect(await thingIds(storage)).toEqual(['1'])
})

test('a reader has one snapshot of the data for all that it reads', async () => {
  const storage = await open()
  await insertAndTell(storage, 1)
  await storage.transaction(
    async (tx) => {
      expect(await tx.count(things, {})).toBe(1)
      await elsewhere(() => insertAndTell(storage, 2))
      expect(await tx.count(things, {})).toBe(1)
    },
    { readOnly: true },
  )
  expect(await thingIds(storage)).toEqual(['1', '2'])
})
