/** Sessions on a server that takes no changes, where the address leads to one that does: as after a failover. */
import type { PoolConfig } from 'pg'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { postgresRateLimits } from '../../../../adapters/rate-limits/postgres.ts'
import type { PgPool } from '../../../../adapters/sql/postgres/connection.ts'
import { postgresDialect } from '../../../../adapters/sql/postgres/dialect.ts'
import { migrateOn } from '../../../../adapters/sql/postgres/migrate.ts'
import { postgresStorage } from '../../../../adapters/storage/postgres.ts'
import { storageSchema } from '../../../../adapters/storage/sql/schema.ts'
import type { Storage, Tx } from '../../../../lib/storage/contract.ts'
import { createTestCommunity } from '../../../support/community.ts'
import { testPostgres } from '../../../support/postgres.ts'
import { insertAndTell, thingIds, things, wordOf } from '../things.ts'

const server = await testPostgres()
const admin = await server.client()
await admin.query('SET default_transaction_read_only = off')
const database = `"${new URL(server.url).pathname.slice(1)}"`

/** Whether sessions that begin from now on take changes: those that are open stay as they are. */
const setReadOnly = (value: 'on' | 'off') =>
  admin.query(`ALTER DATABASE ${database} SET default_transaction_read_only = ${value}`)
const cut = () =>
  admin.query(`SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()`)

beforeEach(() => setReadOnly('off').then(() => undefined))

const once = (work: Promise<unknown>) =>
  work.then(
    () => 'written',
    (error: unknown) => (error instanceof Error ? error.message : String(error)).replace(/.*(read-only transaction).*/s, '$1'),
  )

const write = (storage: Storage, work: (tx: Tx) => Promise<unknown>) => storage.transaction(async (tx) => void (await work(tx)))

/** One write of each kind; the number makes it another one. */
const ways: readonly (readonly [string, (storage: Storage, id: number) => Promise<unknown>])[] = [
  ['an insert and an event', (storage, id) => insertAndTell(storage, id)],
  ['an update', (storage, id) => write(storage, (tx) => tx.update(things, '1', { size: id }))],
  ['a removal', (storage, id) => write(storage, (tx) => tx.remove(things, '1', { size: -id }))],
  ['a lock', (storage) => write(storage, (tx) => tx.lock(things, '1', 'update'))],
  ['an event alone', (storage, id) => write(storage, (tx) => tx.append([wordOf(id)]))],
  [
    "a host's own statement",
    (storage, id) => write(storage, (tx) => native(tx, `UPDATE ${schemaOf.get(storage)}.things SET size = ${id}`)),
  ],
  [
    "a host's own statement whose error it swallows",
    (storage, id) =>
      write(storage, (tx) => native(tx, `UPDATE ${schemaOf.get(storage)}.things SET size = ${id}`).catch(() => undefined)),
  ],
]
const schemaOf = new WeakMap<Storage, string>()
const native = (tx: Tx, text: string) => (tx.native as { query(text: string): Promise<unknown> }).query(text)

const pools: readonly (readonly [string, PoolConfig | undefined])[] = [
  ["the storage's own pool", undefined],
  ["a host's pool", {}],
  ["a host's pool with pipeline", { pipeline: true } as PoolConfig],
]

test.each(pools)('on %s every kind of write works with the second try, whatever its sessions were', async (_, config) => {
  const size = 3
  async function open(way: string, run: (storage: Storage, id: number) => Promise<unknown>) {
    const schema = server.newSchema()
    const place = config ? { pool: server.pool({ ...config, max: size }) } : { url: server.url, poolSize: size }
    const storage = await postgresStorage({ ...place, schema, tables: [things] })
    schemaOf.set(storage, schema)
    onTestFinished(() => storage.close())
    await insertAndTell(storage, 1)
    return { way, storage, run }
  }
  const opened = await Promise.all(ways.map(([way, run]) => open(way, run)))
  await setReadOnly('on')
  await cut()
  // Every session of the pool is one with the server that takes no changes, and has been for longer than a moment.
  const look = (storage: Storage) => storage.transaction((tx) => native(tx, 'SELECT pg_sleep(1.1)'))
  await Promise.all(opened.flatMap(({ storage }) => Array.from({ length: size }, () => look(storage))))
  await setReadOnly('off')
  for (const { way, storage, run } of opened) {
    // An addition that fails in a shared commit runs again by itself.
    if (!way.startsWith('an addition')) expect([way, await once(run(storage, 2))]).not.toEqual([way, 'written'])
    else await once(run(storage, 2))
    // Where no one sees why a transaction was rolled back, it costs a try for each session.
    if (way.endsWith('swallows')) for (let tries = 1; tries < size; tries++) await once(run(storage, 2))
    expect([way, await once(run(storage, 3)), await once(run(storage, 4))]).toEqual([way, 'written', 'written'])
  }
})

test('while the server takes no changes, reads work and their sessions stay', async () => {
  const pool = server.pool({ max: 3 })
  const storage = await postgresStorage({ pool, schema: server.newSchema(), tables: [things] })
  await insertAndTell(storage, 1)
  await setReadOnly('on')
  await cut()
  let connected = 0
  pool.on('connect', () => void connected++)
  for (let id = 2; id < 22; id++) {
    expect(await once(insertAndTell(storage, id))).toBe('read-only transaction')
    expect(await thingIds(storage)).toEqual(['1'])
  }
  // One for each write, and one for the reads after each.
  expect(connected).toBeLessThanOrEqual(41)
  await setReadOnly('off')
  expect(await once(insertAndTell(storage, 2))).toMatch(/read-only|written/)
  expect(await once(insertAndTell(storage, 3))).toBe('written')
})

test('the API accepts writes again after the first 503', async () => {
  const pool = server.pool()
  const storage = await postgresStorage({ pool, schema: server.newSchema() })
  const community = await createTestCommunity({ storage })
  onTestFinished(() => storage.close())
  const create = async (title: string) => (await community.send('tags.create', { body: { title, color: '#ff0000' } })).status
  expect(await create('Roses')).toBe(201)
  await setReadOnly('on')
  await cut()
  expect(await create('Violets')).toBe(503)
  expect((await community.send('tags.list')).status).toBe(200)
  await setReadOnly('off')
  const responses = [await create('Asters'), await create('Lilies'), await create('Tulips')]
  expect(responses.slice(1)).toEqual([201, 201])
})

test('rate limits are shared again, and tables are made, after one try', async () => {
  const pool = server.pool()
  const schema = server.newSchema()
  const warnings: string[] = []
  const limits = await postgresRateLimits({ pool, schema, retryMs: 1, warn: (sentence) => void warnings.push(sentence) })
  await setReadOnly('on')
  await cut()
  const dialect = postgresDialect(schema)
  const migrated = () => once(migrateOn(pool as PgPool, dialect, storageSchema(dialect, [things])))
  expect(await migrated()).toContain('read-only transaction')
  await limits.count('a', 10)
  expect(warnings).toHaveLength(1)
  await pool.query('SELECT 1')
  await setReadOnly('off')
  await migrated()
  expect(await migrated()).toBe('written')
  await expect
    .poll(async () => {
      await limits.count('a', 10)
      return warnings.at(-1)
    })
    .toBe('rate limits: the processes count together again')
})
