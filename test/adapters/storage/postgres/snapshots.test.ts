/** Reads that arrive together share one snapshot of a PostgreSQL database; none of them may notice. */
import type pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { type PostgresOptions, postgresStorage } from '../../../../adapters/storage/postgres.ts'
import type { Storage, Tx } from '../../../../lib/storage/contract.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { insertAndTell, thing, thingIds, things } from '../things.ts'

const server = await testPostgres()
const admin = await server.client()

async function open(options: PostgresOptions = {}) {
  const from = options.pool ? {} : { url: server.url }
  const schema = server.newSchema()
  const storage = await postgresStorage({ ...from, schema, tables: [things], ...options })
  onTestFinished(() => storage.close())
  return { storage, schema }
}

const read = <T>(storage: Storage, work: (tx: Tx) => Promise<T>) => storage.transaction(work, { readOnly: true })
const query = (tx: Tx, text: string) => (tx.native as pg.Client).query(text)
const processOf = async (tx: Tx): Promise<unknown> => (await query(tx, 'SELECT pg_backend_pid() AS pid')).rows[0]?.pid

test('reads of one turn share a connection, and those of the next do not wait for them', async () => {
  const { storage } = await open()
  await insertAndTell(storage, 1)
  const { promise: word, resolve: go } = Promise.withResolvers<void>()
  const slow = Array.from({ length: 2 }, () =>
    read(storage, async (tx) => {
      const pid = await processOf(tx)
      await word
      return { pid, ids: (await tx.find(things, {})).map(({ id }) => id) }
    }),
  )
  await new Promise(setImmediate)
  expect(await thingIds(storage)).toEqual(['1'])
  await insertAndTell(storage, 2)
  expect(await thingIds(storage)).toEqual(['1', '2'])
  go()
  const [one, other] = await Promise.all(slow)
  expect(one).toEqual(other)
})

test('a read that fails gets the reason; those that shared its snapshot have lost a race and may be run again', async () => {
  const { storage } = await open({ statementTimeoutMs: 100 })
  await insertAndTell(storage, 1)
  const outcomes = await Promise.allSettled([
    read(storage, async () => {
      throw new RangeError('no good')
    }),
    read(storage, async (tx) => tx.find(things, {})),
    read(storage, async (tx) => query(tx, 'SELECT pg_sleep(5)')),
    read(storage, async (tx) => {
      await query(tx, 'SELECT 1').catch(() => undefined)
      return tx.count(things, {})
    }),
  ])
  expect(outcomes).toEqual([
    { status: 'rejected', reason: new RangeError('no good') },
    { status: 'fulfilled', value: [thing(1)] },
    { status: 'rejected', reason: expect.objectContaining({ code: '57014' }) },
    { status: 'rejected', reason: expect.objectContaining({ code: 'conflict' }) },
  ])
  expect(await thingIds(storage)).toEqual(['1'])
})

test('a connection that breaks under several reads is a lost race for each of them', async () => {
  const { storage } = await open()
  await insertAndTell(storage, 1)
  const { promise: broken, resolve: isBroken } = Promise.withResolvers<void>()
  const reads = Array.from({ length: 3 }, (_, place) =>
    read(storage, async (tx) => {
      if (place === 0) await admin.query('SELECT pg_terminate_backend($1, 5000)', [await processOf(tx)]).then(() => isBroken())
      await broken
      return tx.count(things, {})
    }),
  )
  for (const one of reads) await expect(one).rejects.toMatchObject({ code: 'conflict' })
  expect(await thingIds(storage)).toEqual(['1'])
})

test("a host's pool gives each read a separate connection, unless it was made to send ahead", async () => {
  for (const pipeline of [false, true]) {
    const pool = server.pool({ max: 3, ...(pipeline ? { pipeline } : {}) })
    const { storage } = await open({ pool })
    await insertAndTell(storage, 1)
    const pids = await Promise.all(Array.from({ length: 3 }, () => read(storage, processOf)))
    expect(new Set(pids).size).toBe(pipeline ? 1 : 3)
    const both = read(storage, (tx) => Promise.all([tx.count(things, {}), tx.get(things, '1')]))
    expect(await both).toEqual([1, thing(1)])
    await storage.close()
  }
})

test("a host's pool that sends ahead gets a connection back when the snapshot on it has ended", async () => {
  const pool = server.pool({ max: 1, pipeline: true })
  const { storage, schema } = await open({ pool })
  await insertAndTell(storage, 1)
  await thingIds(storage)
  const client = await pool.connect()
  await client.query('BEGIN')
  await client.query(`DELETE FROM ${schema}.things`)
  await client.query('ROLLBACK')
  client.release()
  expect(await thingIds(storage)).toEqual(['1'])
  await storage.close()
})

test('a server that went away and came back is read from again without a word', async () => {
  const { storage } = await open()
  await insertAndTell(storage, 1)
  await Promise.all(Array.from({ length: 20 }, () => thingIds(storage)))
  const broken = admin.query(
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'folkmoot' AND datname = current_database()",
  )
  const early = Promise.allSettled(Array.from({ length: 20 }, () => thingIds(storage)))
  await broken
  await early
  expect(await Promise.all(Array.from({ length: 20 }, () => thingIds(storage)))).toEqual(Array.from({ length: 20 }, () => ['1']))
})

test.each([true, false])(
  'a connection that was given back in a failed transaction is replaced, with pipeline %o',
  async (pipeline) => {
    const pool = server.pool({ max: 1, ...(pipeline ? { pipeline } : {}) })
    const { storage } = await open({ pool })
    await insertAndTell(storage, 1)
    const fail = async () => {
      const client = await pool.connect()
      await client.query('BEGIN')
      await expect(client.query('SELECT 1 / 0')).rejects.toThrow('division by zero')
      client.release()
    }
    await fail()
    expect(await thingIds(storage)).toEqual(['1'])
    await fail()
    await insertAndTell(storage, 2)
    expect(await thingIds(storage)).toEqual(['1', '2'])
    await storage.close()
  },
)
