/** `storage.using`: operations inside of a transaction that the host opened. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { postgresOutbox, postgresStorage } from '../../../adapters/storage/postgres.ts'
import { sqliteOutbox, sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import { ApiError, type CommittedEvent, type Community, createCommunity, type Options } from '../../../lib/index.ts'
import type { Storage } from '../../../lib/storage/contract.ts'
import { temporaryDirectory } from '../../support/directory.ts'
import { testPostgres } from '../../support/postgres.ts'
import { recordsOf } from './records-of.ts'
import { insertAndTell, thing, thingIds, things } from './things.ts'

const server = await testPostgres()

/** A host with its own table `orders` in the same database. */
interface Host {
  readonly storage: Storage
  /** Runs SQL on the host's connection, outside of anything of ours. */
  run(sql: string): Promise<void>
  /** Begins as the host would. */
  begin(): Promise<void>
  joined(): Storage
  /** The argument of `community.using`. */
  readonly native: unknown
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
    begin: () => storage.exclusive(async () => database.exec('BEGIN IMMEDIATE')),
    joined: () => storage.using(database),
    native: database,
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
    native: client,
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
  async function prepared(options: Partial<Options> = {}) {
    const host = await open()
    const community = createCommunity({ storage: host.storage, ...options })
    const owner = { email: 'host@example.org', first_name: 'Ada', last_name: 'Host' }
    await community.networks.create({ subdomain: 'demo', title: 'Demo', owner })
    return { host, community }
  }

  test("the host's rows, the API's rows and the events commit together", async () => {
    const { host, community } = await prepared()
    await host.begin()
    await host.run(`INSERT INTO orders VALUES ('membership')`)
    await community.using(host.native).call('members.create', member)
    await host.run('COMMIT')
    expect([await host.orders(), await sizeOf(community), await host.events()]).toEqual([1, 2, ['MemberJoinedHook']])
  })

  test('and none of them when the host rolls back', async () => {
    const { host, community } = await prepared()
    await host.begin()
    await host.run(`INSERT INTO orders VALUES ('membership')`)
    await community.using(host.native).call('members.create', member)
    await host.run('ROLLBACK')
    expect([await host.orders(), await sizeOf(community), await host.events()]).toEqual([0, 1, []])
  })

  test('calls at the same time take turns, though each joins the transaction separately', async () => {
    const { host, community } = await prepared()
    await host.begin()
    const calls = ['1', '2', '1', '3'].map((name) =>
      community.using(host.native).call('members.create', { ...member, body: { ...member.body, email: `${name}@example.org` } }),
    )
    const responses = await Promise.allSettled(calls)
    await host.run('COMMIT')
    expect(responses.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    expect(await sizeOf(community)).toBe(4)
  })

  test('work in a joined transaction may join it for another storage', async () => {
    const { host } = await prepared()
    await host.begin()
    await host.joined().transaction(() => host.joined().transaction(async () => {}))
    await host.run('ROLLBACK')
  })

  test('a change in the transaction of the host leaves its line with the commit, and none with a rollback', async () => {
    const { host, community } = await prepared()
    const actors = async () => (await community.audit.list({ network: 'demo' })).items.map(({ actor, action }) => [actor, action])
    for (const end of ['ROLLBACK', 'COMMIT']) {
      await host.begin()
      const { keys } = community.using(host.native).by({ actor: `ada, ${end}` })
      await keys.create({ network: 'demo', name: 'app', scopes: ['*:read'] })
      await host.run(end)
    }
    expect(await actors()).toEqual([
      ['ada, COMMIT', 'key.created'],
      ['host', 'network.created'],
    ])
  })

  test('`using` keeps every option of the community, and `after` gets the events when the host reports its commit', async () => {
    const heard: CommittedEvent[] = []
    const vetoed = new ApiError(409, { error: 'Not on Sundays' })
    const { host, community } = await prepared({
      ids: 'number',
      permalink: ({ kind, id }) => `https://app.example/${kind}/${id}`,
      limits: { titleCharacters: 5 },
      hooks: {
        before({ operation }) {
          if (operation.id === 'spaces.create') throw vetoed
        },
        after: (event) => void heard.push(event),
      },
    })
    await host.begin()
    const joined = community.using(host.native)
    const created = await joined.call('members.create', { ...member, body: { ...member.body, send_welcome_email: true } })
    expect(created).toMatchObject({ id: expect.any(Number), permalink: `https://app.example/members/${created.id}` })
    await expect(joined.call('tags.create', { network: 'demo', body: { title: 'sixsix' } })).rejects.toMatchObject({
      status: 422,
    })
    await expect(joined.call('spaces.create', { network: 'demo', body: { name: 'Barn' } })).rejects.toBe(vetoed)
    await joined.keys.create({ network: 'demo', name: 'app', scopes: ['*:read'] })
    await joined.acceptInvite({ network: 'demo', invite: '1' }).catch(() => undefined)
    await host.run('COMMIT')
    await Promise.resolve()
    expect(heard).toEqual([])
    joined.committed()
    joined.committed()
    await vi.waitFor(() => expect(heard).toHaveLength(2), { timeout: 60_000 })
    expect([await sizeOf(community), await host.events()]).toEqual([2, heard.map(({ event_type }) => event_type)])
  })

  test('an operation that refuses undoes only itself', async () => {
    const { host, community } = await prepared()
    await host.begin()
    await host.run(`INSERT INTO orders VALUES ('membership')`)
    const joined = community.using(host.native)
    await joined.call('members.create', member)
    await expect(joined.call('members.create', member)).rejects.toMatchObject({ status: 422 })
    await host.run(`INSERT INTO orders VALUES ('another')`)
    await host.run('COMMIT')
    expect([await host.orders(), await sizeOf(community), await host.events()]).toEqual([2, 2, ['MemberJoinedHook']])
  })

  test('several concurrent operations take their turns on the one connection', async () => {
    const { host, community } = await prepared()
    await host.begin()
    const joined = community.using(host.native)
    await Promise.all(
      Array.from({ length: 5 }, (_, place) =>
        joined.call('members.create', { ...member, body: { ...member.body, email: `m${place}@example.org` } }),
      ),
    )
    await host.run('COMMIT')
    expect(await sizeOf(community)).toBe(6)
  })

  test.each([
    ['whose address is taken', { ...member.body, email: 'host@example.org' }],
    ['without an address', { ...member.body, email: '' }],
  ])(
    'a host that rolls back at the first refusal of several operations keeps none of them: a member %s',
    async (_which, refused) => {
      const { host, community } = await prepared()
      for (let place = 0; place < 4; place++) {
        await host.begin()
        const joined = community.using(host.native)
        const bodies = [1, 2, 3, 4].map((number) => ({ ...member.body, email: `m${number}@example.org` }))
        const calls = bodies.toSpliced(place, 0, refused).map((body) => joined.call('members.create', { network: 'demo', body }))
        await expect(Promise.all(calls)).rejects.toMatchObject({ status: 422 })
        await host.run('ROLLBACK')
        const ended = (await Promise.allSettled(calls)).map(({ status }) => status)
        expect(ended.filter((status) => status === 'fulfilled')).toHaveLength(4)
      }
      expect([await sizeOf(community), await host.events()]).toEqual([1, []])
    },
  )

  test('a host may have put another class in place of `Promise`', async () => {
    const { host, community } = await prepared()
    await host.begin()
    const joined = community.using(host.native)
    vi.stubGlobal('Promise', class extends Promise<unknown> {})
    const called = joined.networks.show('demo')
    vi.unstubAllGlobals()
    expect(await called).toMatchObject({ subdomain: 'demo' })
    await host.run('ROLLBACK')
  })

  test('a call inside of another one of the same transaction is refused, and neither waits for the other', async () => {
    let joined: ReturnType<Community['using']> | undefined
    const refusals: unknown[] = []
    const before = async () => {
      const { keys, networks } = joined as ReturnType<Community['using']>
      refusals.push(await networks.show('demo').catch((error: unknown) => error))
      // This one is refused before it asks the storage.
      refusals.push(await keys.create({ network: '1', name: '', scopes: ['*'] }).catch((error: unknown) => error))
    }
    const { host, community } = await prepared({ hooks: { before } })
    await host.begin()
    joined = community.using(host.native)
    await joined.call('members.create', member)
    await host.run('COMMIT')
    expect(refusals).toEqual([expect.any(TypeError), expect.objectContaining({ status: 422 })])
  })

  test('without a transaction of the host it is refused', async () => {
    const { host, community } = await prepared()
    await expect(host.joined().transaction(async () => 1)).rejects.toThrow(TypeError)
    await expect(community.using(host.native).call('members.create', member)).rejects.toThrow(/run BEGIN/)
  })

  test.each([undefined, null, {}, 'client'])('anything but the connection is refused: %o', async (other) => {
    const { community } = await prepared()
    expect(() => community.using(other)).toThrow(/`using` needs the/)
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

test("a host that begins beside a busy storage never meets its lock inside of `exclusive`, and the storage waits for the host's", async () => {
  const path = join(temporaryDirectory(), 'app.sqlite')
  const storage = await sqliteStorage({ path, tables: [things] })
  const database = new DatabaseSync(path)
  onTestFinished(async () => {
    await storage.close()
    database.close()
  })
  const writes = Array.from({ length: 200 }, (_, id) => insertAndTell(storage, id + 1))
  for (let round = 0; round < 5; round++) {
    await storage.exclusive(async () => database.exec('BEGIN IMMEDIATE'))
    await storage.using(database).transaction((tx) => tx.insert(things, thing(1001 + round)))
    database.exec('COMMIT')
  }
  await Promise.all(writes)
  expect(await thingIds(storage)).toHaveLength(205)
})

/** The n-th block of code of the page, as a module that runs here. */
async function documented(number: number, replace: Readonly<Record<string, string>>): Promise<Documented> {
  const page = readFileSync(new URL('../../../docs/host-transactions.md', import.meta.url), 'utf8')
  const block = [...page.matchAll(/```ts\n(.*?)```/gs)][number]?.[1] ?? ''
  const code = Object.entries(replace).reduce((text, [from, to]) => {
    expect(text).toContain(from)
    return text.replaceAll(from, to)
  }, block)
  const file = join(temporaryDirectory(), 'block.ts')
  writeFileSync(file, code)
  return import(/* @vite-ignore */ pathToFileURL(file).href)
}

interface Documented {
  order(email: string, item: string): Promise<void>
  readonly pool?: { end(): Promise<void> }
}
const here = (path: string) => new URL(`../../../${path}`, import.meta.url).href

/** Orders of six people at once, of whom two come twice, while the API writes as well. */
async function manyOrders(order: Documented['order'], community: Community) {
  const addresses = ['a', 'b', 'a', 'c', 'b', 'd'].map((name) => `${name}@example.org`)
  const tag = community.call('tags.create', { network: 'demo', body: { title: 'x' } })
  const outcomes = await Promise.allSettled([...addresses.map((address) => order(address, 'seeds')), tag])
  const members = await community.call('members.list', { network: 'demo' })
  return { done: outcomes.filter(({ status }) => status === 'fulfilled').length, members: members.items.length }
}

const owner = { email: 'host@example.org', first_name: 'Ada', last_name: 'Host' }

test('the documented form for SQLite: of many concurrent orders each is whole or not there, and nothing waits for ever', async () => {
  const path = join(temporaryDirectory(), 'app.sqlite')
  const database = new DatabaseSync(path)
  database.exec('CREATE TABLE orders (buyer TEXT, item TEXT)')
  const { order } = await documented(2, {
    "'app.sqlite'": JSON.stringify(path),
    "'folkmoot'": JSON.stringify(here('lib/index.ts')),
    "'folkmoot/storage/sqlite'": JSON.stringify(here('adapters/storage/sqlite.ts')),
  })
  const storage = await sqliteStorage({ path })
  onTestFinished(async () => {
    await storage.close()
    database.close()
  })
  const community = createCommunity({ storage })
  await community.networks.create({ subdomain: 'demo', title: 'Demo', owner })
  expect(await manyOrders(order, community)).toEqual({ done: 5, members: 5 })
  const buyers = database.prepare('SELECT buyer FROM orders ORDER BY buyer').all()
  expect(buyers.map(({ buyer }) => buyer)).toEqual(['a', 'b', 'c', 'd'].map((name) => `${name}@example.org`))
})

test('the documented form for PostgreSQL: of many concurrent orders each is whole or not there', async () => {
  const schema = server.newSchema()
  const client = await server.client()
  await client.query(`CREATE TABLE orders_${schema} (buyer text, item text)`)
  const { order, pool } = await documented(0, {
    'process.env.DATABASE_URL': JSON.stringify(server.url),
    '{ pool }': `{ pool, schema: ${JSON.stringify(schema)} }`,
    'INTO orders': `INTO orders_${schema}`,
    "'pg'": JSON.stringify(import.meta.resolve('pg')),
    "'folkmoot'": JSON.stringify(here('lib/index.ts')),
    "'folkmoot/storage/postgres'": JSON.stringify(here('adapters/storage/postgres.ts')),
  })
  const storage = await postgresStorage({ url: server.url, schema })
  onTestFinished(() => storage.close())
  onTestFinished(() => pool?.end())
  const community = createCommunity({ storage })
  await community.networks.create({ subdomain: 'demo', title: 'Demo', owner })
  expect(await manyOrders(order, community)).toEqual({ done: 5, members: 5 })
  expect(Number((await client.query(`SELECT count(*) AS number FROM orders_${schema}`)).rows[0].number)).toBe(4)
})

test('the connection of the host may read numbers as BigInt, and rows as lists', async () => {
  const database = new DatabaseSync(join(temporaryDirectory(), 'app.sqlite'), { readBigInts: true, returnArrays: true })
  const storage = await sqliteStorage({ database })
  onTestFinished(async () => {
    await storage.close()
    database.close()
  })
  const community = createCommunity({ storage, ids: 'number' })
  const owner = { email: 'host@example.org', first_name: 'Ada', last_name: 'Host' }
  await community.networks.create({ subdomain: 'demo', title: 'Demo', owner })
  database.exec('BEGIN IMMEDIATE')
  const joined = community.using(database)
  const { id } = await joined.call('members.create', member)
  await joined.call('members.update', { network: 'demo', params: { id }, body: { last_name: 'Oak' } })
  database.exec('COMMIT')
  expect(await community.call('members.show', { network: 'demo', params: { id } })).toMatchObject({ id, last_name: 'Oak' })
  expect(database.prepare('SELECT 1').get()).toEqual([1n])
})

test('the response of a query builder is no response of `pg`', async () => {
  const client = await server.client()
  const storage = await postgresStorage({ url: server.url, schema: server.newSchema() })
  onTestFinished(() => storage.close())
  await client.query('BEGIN')
  const rows = { query: async (text: string) => (await client.query(text)).rows }
  const joined = createCommunity({ storage }).using(rows)
  await expect(joined.networks.list()).rejects.toThrow(/`using` needs the client of `pg`/)
})

test('a storage that shares no transactions refuses with a sentence', () => {
  expect(() => createCommunity({ storage: memoryStorage() }).using({})).toThrow(/only SQLite and PostgreSQL/)
})
