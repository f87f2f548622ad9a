/** `storage.using`: operations inside of a transaction that the host opened. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgresOutbox, postgresStorage } from '../../../adapters/storage/postgres.ts'
import { sqliteOutbox, sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import { type Community, createCommunity } from '../../../lib/index.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { testPostgres } from '../../support/postgres.ts'
import { temporaryDirectory } from '../child.ts'
import { recordsOf } from './records-of.ts'
import { insertAndTell, thing, thingIds, things } from './things.ts'

const server = await testPostgres()

/** A host with a table `orders` of its own in the same database. */
interface Host {
  readonly storage: Storage
  /** Runs SQL on the host's connection, outside of anything of ours. */
  run(sql: string): Promise<void>
  /** Begins as the host would. */
  begin(): Promise<void>
  joined(): Storage
  orders(): Promise<unknown>
  events(): Promise<readonly string[]>
}

const types = (records: readonly { kind: string; event_type?: string }[]) =>
  records.map((record) => record.event_type ?? record.kind)

async function sqlite(): Promise<Host> {
  const path = join(temporaryDirectory(), 'app.sqlite')
  const database = new DatabaseSync(path)
  database.exec('CREATE TABLE orders (item TEXT)')
  const storage = await sqliteStorage({ database })
  onTestFinished(async () => {
    await storage.close()
    database.close()
  })
  return {
    storage,
    run: async (sql) => database.exec(sql),
    begin: () => storage.alone(async () => database.exec('BEGIN IMMEDIATE')),
    joined: () => storage.using(database),
    orders: async () => database.prepare('SELECT count(*) AS number FROM orders').get()?.['number'],
    events: async () => types(await recordsOf(await sqliteOutbox(path))),
  }
}

async function postgres(): Promise<Host> {
  const schema = server.newSchema()
  const client = await server.client()
  const storage = await postgresStorage({ url: server.url, schema })
  onTestFinished(() => storage.close())
  const orders = `orders_${schema}`
  await client.query(`CREATE TABLE ${orders} (item text)`)
  return {
    storage,
    run: async (sql) => void (await client.query(sql.replaceAll('orders', orders))),
    begin: async () => void (await client.query('BEGIN')),
    joined: () => storage.using(client),
    orders: async () => Number((await client.query(`SELECT count(*) AS number FROM ${orders}`)).rows[0].number),
    events: async () => types(await recordsOf(await postgresOutbox({ url: server.url, schema }))),
  }
}

const member = {
  network: 'demo',
  body: { email: 'new@example.org', first_name: 'New', last_name: '', send_welcome_email: false },
}
const sizeOf = async (community: Community) => (await community.call('members.list', { network: 'demo' })).items.length

describe.each([
  ['sqlite', sqlite],
  ['postgres', postgres],
])('%s', (_name, open) => {
  async function prepared() {
    const host = await open()
    const community = createCommunity({ storage: host.storage })
    const owner = { email: 'host@example.org', first_name: 'Ada', last_name: 'Host' }
    await community.networks.create({ subdomain: 'demo', title: 'Demo', owner })
    return { host, community }
  }

  test("the host's rows, the API's rows and the events commit together", async () => {
    const { host, community } = await prepared()
    await host.begin()
    await host.run(`INSERT INTO orders VALUES ('membership')`)
    await createCommunity({ storage: host.joined() }).call('members.create', member)
    await host.run('COMMIT')
    expect([await host.orders(), await sizeOf(community), await host.events()]).toEqual([1, 2, ['MemberJoinedHook']])
  })

  test('and none of them when the host rolls back', async () => {
    const { host, community } = await prepared()
    await host.begin()
    await host.run(`INSERT INTO orders VALUES ('membership')`)
    await createCommunity({ storage: host.joined() }).call('members.create', member)
    await host.run('ROLLBACK')
    expect([await host.orders(), await sizeOf(community), await host.events()]).toEqual([0, 1, []])
  })

  test('an operation that refuses undoes only itself', async () => {
    const { host, community } = await prepared()
    await host.begin()
    await host.run(`INSERT INTO orders VALUES ('membership')`)
    const joined = createCommunity({ storage: host.joined() })
    await joined.call('members.create', member)
    await expect(joined.call('members.create', member)).rejects.toMatchObject({ status: 422 })
    await host.run(`INSERT INTO orders VALUES ('another')`)
    await host.run('COMMIT')
    expect([await host.orders(), await sizeOf(community), await host.events()]).toEqual([2, 2, ['MemberJoinedHook']])
  })

  test('several operations at once take their turns on the one connection', async () => {
    const { host, community } = await prepared()
    await host.begin()
    const joined = createCommunity({ storage: host.joined() })
    await Promise.all(
      Array.from({ length: 5 }, (_, place) =>
        joined.call('members.create', { ...member, body: { ...member.body, email: `m${place}@example.org` } }),
      ),
    )
    await host.run('COMMIT')
    expect(await sizeOf(community)).toBe(6)
  })

  test('without a transaction of the host it is refused', async () => {
    const { host } = await prepared()
    await expect(host.joined().transaction(async () => 1)).rejects.toMatchObject({
      code: 'closed',
      message: expect.stringMatching(/run BEGIN/),
    })
  })
})

test("a host's rows can join a transaction of the storage by `native`, too", async () => {
  const path = join(temporaryDirectory(), 'app.sqlite')
  const storage = await sqliteStorage({ path, tables: [things] })
  onTestFinished(() => storage.close())
  const undone = storage.transaction(async (tx) => {
    const database = tx.native as DatabaseSync
    database.exec('CREATE TABLE orders (item TEXT)')
    await tx.insert(things, thing(1))
    throw new RangeError('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  const names = await storage.transaction(async (tx) =>
    (tx.native as DatabaseSync).prepare(`SELECT name FROM sqlite_schema WHERE name = 'orders'`).all(),
  )
  expect([names, await thingIds(storage)]).toEqual([[], []])
})

test("a host that begins beside a busy storage never meets its lock inside of `alone`, and the storage waits for the host's", async () => {
  const path = join(temporaryDirectory(), 'app.sqlite')
  const storage = await sqliteStorage({ path, tables: [things] })
  const database = new DatabaseSync(path)
  onTestFinished(async () => {
    await storage.close()
    database.close()
  })
  const writes = Array.from({ length: 200 }, (_, id) => insertAndTell(storage, id + 1))
  for (let round = 0; round < 5; round++) {
    await storage.alone(async () => database.exec('BEGIN IMMEDIATE'))
    await storage.using(database).transaction((tx) => tx.insert(things, thing(1001 + round)))
    database.exec('COMMIT')
  }
  await Promise.all(writes)
  expect(await thingIds(storage)).toHaveLength(205)
})
