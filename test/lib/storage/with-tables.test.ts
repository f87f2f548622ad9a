/** A host's own functions instead of a table, on a table that has nothing in common with ours. */
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { sqliteStorage } from '../../../adapters/storage/sqlite.ts'
import { createCommunity } from '../../../lib/index.ts'
import { within } from '../../../lib/storage/conditions.ts'
import type { Query } from '../../../lib/storage/contract.ts'
import { networks } from '../../../lib/storage/tables/administration.ts'
import { type MemberRow, members, spaceMemberships } from '../../../lib/storage/tables/members.ts'
import { type HostRows, type HostTable, withTables } from '../../../lib/storage/with-tables.ts'
import { hostMembers } from '../../examples/host-members.ts'
import { request } from '../../support/community.ts'
import { temporaryDirectory } from '../../support/directory.ts'

const people = `CREATE TABLE people (person_no INTEGER PRIMARY KEY, mail TEXT NOT NULL UNIQUE, given TEXT NOT NULL, family TEXT,
  is_admin INTEGER NOT NULL DEFAULT 0, left_on TEXT, joined_on TEXT NOT NULL, changed_on TEXT NOT NULL)`
const at = '2020-01-01T00:00:00.000Z'

/** An application with its own people, and the API on top of it. */
async function application(more: HostTable<HostRows['members'], DatabaseSync> = {}) {
  const path = join(temporaryDirectory(), 'app.sqlite')
  const database = new DatabaseSync(path)
  onTestFinished(() => database.close())
  database.exec(people)
  const add = database.prepare('INSERT INTO people VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
  add.run(9, 'Ada@example.org', 'Ada', 'Lovelace', 1, null, at, at)
  add.run(10, 'grace@example.org', 'Grace', null, 0, null, at, at)
  add.run(11, 'gone@example.org', 'Gone', null, 0, at, at, at)

  const storage = await sqliteStorage({ path })
  // The network's owner is one of the host's people already, so the network is made without the host's table.
  const owner = { email: 'Ada@example.org', first_name: 'Ada', last_name: 'Lovelace' }
  await createCommunity({ storage }).networks.create({ id: '1', subdomain: 'app', title: 'App', owner, owner_id: '9' })
  const community = createCommunity({
    storage: withTables(storage, { members: { ...hostMembers('1'), ...more } }),
    allowHttp: true,
  })
  onTestFinished(() => community.close())
  const { token } = await community.keys.create({ network: '1', name: 'test', scopes: ['*'] })
  const send = (method: string, below: string, body?: unknown) =>
    request(community, method, `/admin/v1/networks/1${below}`, {
      headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  return { database, storage, send }
}

test("the API lists, shows and finds the host's people, in the order of their numbers", async () => {
  const { send } = await application()
  const list = await send('GET', '/members')
  expect(list.body.items.map(({ id, first_name }: Record<string, unknown>) => [id, first_name])).toEqual([
    ['9', 'Ada'],
    ['10', 'Grace'],
  ])
  expect((await send('GET', '/members?per_page=1&page=2')).body.items).toHaveLength(1)
  expect((await send('GET', '/members/10')).body).toMatchObject({ id: '10', first_name: 'Grace', last_name: '' })
  expect((await send('GET', '/members/by_email?email=ada@EXAMPLE.org')).body).toMatchObject({ id: '9' })
  expect((await send('GET', '/members/11')).status).toBe(404)
  expect((await send('GET', '/members/12')).status).toBe(404)
})

test("a change goes into the host's table, in the same transaction as its event", async () => {
  const { database, send } = await application()
  const { status, body } = await send('PATCH', '/members/10', { first_name: 'Rear Admiral' })
  expect({ status, first_name: body.first_name }).toEqual({ status: 200, first_name: 'Rear Admiral' })
  expect(database.prepare('SELECT given FROM people WHERE person_no = 10').get()).toEqual({ given: 'Rear Admiral' })
  expect(database.prepare('SELECT count(*) AS events FROM folkmoot_outbox').get()).toEqual({ events: 1 })
})

test('an operation that the host left out gets a 403, which names its manager', async () => {
  const { send } = await application()
  const { status, body } = await send('POST', '/members', { email: 'new@example.org', first_name: 'New', last_name: '' })
  expect({ status, body }).toEqual({
    status: 403,
    body: { error: 'forbidden', message: 'Members are managed by the host application', status: 403 },
  })
})

test("what the host's table cannot keep is refused, and no one is notified of it", async () => {
  const { database, send } = await application()
  const removed = await send('DELETE', '/members/10')
  const changed = await send('PATCH', '/members/10', { first_name: 'Rear Admiral', email: 'new@example.org' })
  expect([removed, changed].map(({ status, body }) => [status, body.message])).toEqual([
    [403, 'state is managed by the host application'],
    [403, 'email is managed by the host application'],
  ])
  expect(database.prepare('SELECT given FROM people WHERE person_no = 10').get()).toEqual({ given: 'Grace' })
  expect(database.prepare('SELECT count(*) AS events FROM folkmoot_outbox').get()).toEqual({ events: 0 })
})

test("other tables stay the library's, and refer to the host's people", async () => {
  const { send } = await application()
  const space = await send('POST', '/spaces', { name: 'Lobby' })
  expect(space.status).toBe(201)
  const joined = await send('POST', `/spaces/${space.body.id}/members`, { user_id: '10' })
  expect(joined.status).toBeLessThan(300)
  const members = await send('GET', `/spaces/${space.body.id}/members`)
  expect(members.body.items.map(({ first_name }: Record<string, unknown>) => first_name)).toContain('Grace')
})

test("people who are given something are locked by the host's own function, and are not changed", async () => {
  const locked: unknown[] = []
  const { get } = hostMembers('1')
  const { database, send } = await application({
    async lock(native, id, strength) {
      locked.push([id, strength])
      return get?.(native, id)
    },
  })
  const before = database.prepare('SELECT * FROM people').all()
  const space = await send('POST', '/spaces', { name: 'Lobby' })
  await send('POST', `/spaces/${space.body.id}/members`, { user_id: '10' })
  expect(locked).toEqual([['10', 'update']])
  expect(database.prepare('SELECT * FROM people').all()).toEqual(before)
})

test('nothing is given to people who have gone, or to no one', async () => {
  const { send } = await application()
  const space = await send('POST', '/spaces', { name: 'Lobby' })
  for (const user_id of ['11', '12'])
    expect((await send('POST', `/spaces/${space.body.id}/members`, { user_id })).status).toBe(404)
})

test.each<[unknown, unknown, string]>([
  [memoryStorage(), { gnomes: {}, members: {} }, 'there are no tables gnomes that a host could provide'],
  [
    memoryStorage(),
    { members: { fetch() {}, finds() {}, get: 5, pool: {} }, posts: 'mine' },
    'function `members.fetch` does not exist; allowed: get, find, count, insert, update, remove, lock; function `members.finds` does not exist; did you mean find?; `members.get` must be a function; `posts` must be an object of functions',
  ],
  [memoryStorage(), undefined, 'the second argument must be the functions of your tables'],
  [Promise.resolve(memoryStorage()), {}, 'the first argument is a Promise: await the storage'],
  [{}, {}, 'the first argument must be a storage'],
])('what is no table, function or storage is refused by name', (storage, hostTables, sentence) => {
  expect(() => withTables(storage as never, hostTables as object)).toThrow(`withTables: ${sentence}`)
})

test("a host's functions may call each other by `this`", async () => {
  const row = { id: '7' } as MemberRow
  const people: HostTable<MemberRow> & { readonly rows: readonly MemberRow[] } = {
    rows: [row],
    async find() {
      return [...this.rows]
    },
    async get(_native, id) {
      return this.rows.find((each) => each.id === id)
    },
  }
  const storage = withTables(memoryStorage(), { members: people })
  expect(await storage.transaction((tx) => tx.get(members, '7'))).toEqual(row)
})

test("what a host's function does not know is looked at in all rows that match, and other tables find a host's rows", async () => {
  const { storage } = await application()
  const ids = async (query: Query<MemberRow>) =>
    withTables(storage, { members: hostMembers('1') }).transaction(async (tx) => {
      const rows = await tx.find(members, { ...query, where: { network_id: '1', state: 'active' } })
      return { ids: rows.map(({ id }) => id), count: await tx.count(members, { ...query, where: { state: 'active' } }) }
    })
  await storage.transaction(async (tx) => {
    const row = { network_id: '1', created_at: at, updated_at: at, space_id: '7', role: null }
    await tx.insert(spaceMemberships, { ...row, id: '1', member_id: '10' })
    await tx.insert(spaceMemberships, { ...row, id: '2', member_id: '11' })
  })
  const descending = { by: 'id', direction: 'desc' } as const
  expect(await ids({ contains: { email: ['@example'] }, order: descending })).toEqual({ ids: ['10', '9'], count: 2 })
  expect(await ids({ contains: { first_name: ['Ad'] } })).toEqual({ ids: ['9'], count: 1 })
  expect(await ids({ ranges: { first_name: { from: 'B' } } })).toEqual({ ids: ['10'], count: 1 })
  expect(await ids({ within: [within(spaceMemberships, 'member_id', { space_id: '7' })] })).toEqual({ ids: ['10'], count: 1 })
  const people = withTables(storage, { members: hostMembers('1') })
  const admins = within(members, 'id', { role: 'host' })
  expect(await people.transaction((tx) => tx.find(networks, { within: [admins] }))).toEqual([])
  expect(await people.transaction((tx) => tx.count(members, { where: { state: 'active' }, limit: 1 }))).toBe(1)
})

test("counters of a host's row are locked, added up and stored; guards reach the host's functions", async () => {
  const asked: unknown[] = []
  const row = { id: '7', referral_count: 2 } as MemberRow
  const table: HostTable<MemberRow> = {
    async lock(_native, id, strength) {
      asked.push(['lock', id, strength])
      return id === row.id ? row : undefined
    },
    async update(_native, id, patch, guard) {
      asked.push(['update', id, patch, guard])
      return { ...row, ...patch } as MemberRow
    },
    async remove(_native, id, guard) {
      asked.push(['remove', id, guard])
      return undefined
    },
  }
  const guard = { state: 'active' } as const
  const responses = await withTables(memoryStorage(), { members: table }).transaction(async (tx) => [
    await tx.increment(members, '7', { referral_count: 3 }, guard),
    await tx.increment(members, '8', { referral_count: 3 }),
    await tx.remove(members, '7', guard),
  ])
  expect(responses).toEqual([{ ...row, referral_count: 5 }, undefined, undefined])
  expect(asked).toEqual([
    ['lock', '7', 'update'],
    ['update', '7', { referral_count: 5 }, guard],
    ['lock', '8', 'update'],
    ['remove', '7', guard],
  ])
})

test('a table of the host without `lock` is read instead', async () => {
  const row = { id: '7' } as MemberRow
  const storage = withTables(memoryStorage(), { members: { get: async () => row } })
  expect(await storage.transaction((tx) => tx.lock(members, '7', 'share'))).toBe(row)
})
