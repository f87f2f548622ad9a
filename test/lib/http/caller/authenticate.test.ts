import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { memoryStorage } from '../../../../adapters/storage/memory.ts'
import { sqliteStorage } from '../../../../adapters/storage/sqlite.ts'
import { isToken, newToken, redactToken } from '../../../../lib/base/token.ts'
import { createCommunity, type HostPrincipal } from '../../../../lib/index.ts'
import { Conflict, type Storage, type Tx } from '../../../../lib/storage/contract.ts'
import { apiKeys } from '../../../../lib/storage/tables/administration.ts'
import { createTestCommunity, request } from '../../../support/community.ts'
import { temporaryDirectory } from '../../../support/directory.ts'
import { wrappedStorage } from '../../../support/storage.ts'

const me = '/admin/v1/networks/1/me'
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
const unauthorized = { error: 'unauthorized', message: expect.any(String), status: 401 }
const expired = {
  error: 'token_expired',
  message: 'The API token was revoked or has expired. Create a new one.',
  status: 401,
}

test('a key works until it is revoked, and never again', async () => {
  const { community } = await createTestCommunity()
  const { token, key } = await community.keys.create({ network: '1', name: 'short', scopes: ['*'] })
  expect((await request(community, 'GET', me, bearer(token))).status).toBe(200)
  await community.keys.revoke('1', key.id)
  const response = await request(community, 'GET', me, bearer(token))
  expect({ status: response.status, body: response.body }).toEqual({ status: 401, body: expired })
  expect(response.headers.get('www-authenticate')).toBe('Bearer')
})

test('a key is looked up once while no key and no network changes', async () => {
  const memory = memoryStorage()
  let lookUps = 0
  const storage: Storage = {
    ...memory,
    transaction: (work, options) =>
      memory.transaction((tx) => {
        const find: Tx['find'] = (table, query) => {
          if (table.name === apiKeys.name) lookUps++
          return tx.find(table, query)
        }
        return work({ ...tx, find })
      }, options),
  }
  const { community, token } = await createTestCommunity({ storage })
  const ask = async () => (await request(community, 'GET', me, bearer(token))).status
  // The first request also notes that the key was used.
  await ask()
  await ask()
  lookUps = 0
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([200, 200, 200])
  expect(lookUps).toBe(0)
  await community.call('tags.create', { network: '1', body: { title: 'Roses' } })
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([200, 200, 200])
  expect(lookUps).toBe(0)
  await community.keys.create({ network: '1', name: 'other', scopes: ['*'] })
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([200, 200, 200])
  expect(lookUps).toBe(1)
})

describe('a busy key on SQLite stops immediately when it is revoked', () => {
  async function busyKey() {
    const path = join(temporaryDirectory(), 'db.sqlite')
    let lookUps = 0
    const onStatement = ({ sql }: { readonly sql: string }) => {
      if (/"token_hash" = /.test(sql)) lookUps++
    }
    const storage = await sqliteStorage({ path, onStatement })
    const test = await createTestCommunity({ storage })
    onTestFinished(() => test.community.close())
    const { token, key } = await test.community.keys.create({ network: '1', name: 'busy', scopes: ['*'] })
    const ask = async () => (await request(test.community, 'GET', me, bearer(token))).status
    expect([await ask(), await ask()]).toEqual([200, 200])
    return { ...test, storage, path, key, ask, lookUps: () => lookUps }
  }

  test('by this process, also after other tables have changed, for which it is not looked up', async () => {
    const { community, key, ask, lookUps } = await busyKey()
    // That it was used is noted in its row, a moment after the first request.
    const usedAt = async () => (await community.keys.list('1')).find(({ id }) => id === key.id)?.last_used_at
    await vi.waitFor(async () => expect(await usedAt()).toBeTypeOf('string'), { timeout: 60_000 })
    await ask()
    const before = lookUps()
    await community.call('tags.create', { network: '1', body: { title: 'Roses' } })
    expect([await ask(), lookUps()]).toEqual([200, before])
    await community.keys.revoke('1', key.id)
    expect(await ask()).toBe(401)
  })

  test('by a statement of the host in a transaction of the storage', async () => {
    const { storage, key, ask } = await busyKey()
    const revoke = 'UPDATE folkmoot_api_keys SET revoked_at = created_at WHERE id = ?'
    await storage.transaction(async ({ native }) => (native as DatabaseSync).prepare(revoke).run(key.id))
    expect(await ask()).toBe(401)
  })

  test('by another process on the same file', async () => {
    const { path, key, ask } = await busyKey()
    const other = createCommunity({ storage: await sqliteStorage({ path }) })
    await other.keys.revoke('1', key.id)
    await other.close()
    expect(await ask()).toBe(401)
  })

  test("by the host's own transaction, also after a request in the same turn of the event loop", async () => {
    const { community, storage, path, key, ask } = await busyKey()
    const database = new DatabaseSync(path)
    onTestFinished(() => database.close())
    await storage.exclusive(async () => {
      database.exec('BEGIN IMMEDIATE')
      await community.using(database).keys.revoke('1', key.id)
      const before = storage.fast?.version?.()
      database.exec('COMMIT')
      expect(storage.fast?.version?.()).not.toBe(before)
      expect(await ask()).toBe(401)
    })
  })
})

test('a revoked key stays listed and cannot be revoked again', async () => {
  const { community, clock } = await createTestCommunity()
  const { token, key } = await community.keys.create({ network: '1', name: 'short', scopes: ['tags:read'] })
  clock.advance(1000)
  await community.keys.revoke('1', key.id)
  const listed = (await community.keys.list('1')).find(({ id }) => id === key.id)
  expect(listed).toEqual({
    id: key.id,
    network_id: '1',
    name: 'short',
    scopes: ['tags:read'],
    redacted: redactToken(token),
    member_id: expect.any(String),
    created_at: '2026-11-20T10:00:00.000Z',
    updated_at: '2026-11-20T10:00:01.000Z',
    revoked_at: '2026-11-20T10:00:01.000Z',
    expires_at: null,
    last_used_at: null,
    status: 'Revoked',
    expired: false,
    member_state: 'active',
  })
  await expect(community.keys.revoke('1', key.id)).rejects.toMatchObject({ status: 422 })
  await expect(community.keys.revoke('1', '77')).rejects.toMatchObject({ status: 404 })
})

test('a key expires at its time and not before', async () => {
  const { community, clock } = await createTestCommunity()
  const expires_at = '2026-11-20T11:00:00+00:00'
  const { token } = await community.keys.create({ network: '1', name: 'short', scopes: ['*'], expires_at })
  clock.advance(60 * 60 * 1000 - 1)
  expect((await request(community, 'GET', me, bearer(token))).status).toBe(200)
  clock.advance(1)
  expect((await request(community, 'GET', me, bearer(token))).body).toEqual(expired)
})

test('keys with malformed scopes, names or times are refused', async () => {
  const { community } = await createTestCommunity()
  const key = { network: '1', name: 'bad', scopes: ['*'] }
  for (const wrong of [
    { scopes: [] },
    { scopes: ['members'] },
    { scopes: ['members:admin'] },
    { scopes: ['*:write'] },
    { scopes: ['*', 'Members:read'] },
    { name: ' ' },
    { expires_at: 'tomorrow' },
    { member_id: '77' },
  ])
    await expect(community.keys.create({ ...key, ...wrong }), JSON.stringify(wrong)).rejects.toMatchObject({ status: 422 })
})

test('the last use of a key is kept to the minute', async () => {
  const { community, clock, send, token } = await createTestCommunity()
  clock.advance(75_000)
  await send('me.show')
  await send('me.show')
  clock.advance(30_000)
  await send('me.show')
  const used = async () => (await community.keys.list('1')).find(({ redacted }) => redacted === redactToken(token))?.last_used_at
  // No one waits for it to be written.
  await vi.waitFor(async () => expect(await used()).toBe('2026-11-20T10:01:00.000Z'), { timeout: 60_000 })
  clock.advance(60_000)
  await send('me.show')
  await vi.waitFor(async () => expect(await used()).toBe('2026-11-20T10:02:00.000Z'), { timeout: 60_000 })
})

test('the token itself is stored nowhere', async () => {
  const { community, storage } = await createTestCommunity()
  const { token } = await community.keys.create({ network: '1', name: 'secret', scopes: ['*'] })
  const rows = await storage.transaction((tx) => tx.find(apiKeys, {}))
  expect(JSON.stringify(rows)).not.toContain(token.slice(12, 40))
  expect(rows.every((row) => /^[0-9a-f]{64}$/.test(row.token_hash))).toBe(true)
})

test('a token carries a checksum, so that a mistyped one costs no look into the storage', () => {
  const token = newToken()
  expect(token).toMatch(/^fmt_[0-9A-Za-z]{49}$/)
  expect(isToken(token)).toBe(true)
  for (let place = 4; place < token.length; place++) {
    const other = token[place] === 'A' ? 'B' : 'A'
    expect(isToken(token.slice(0, place) + other + token.slice(place + 1)), `character ${place}`).toBe(false)
  }
  for (const wrong of ['', 'fmt_', token.slice(1), `${token}0`, token.toUpperCase(), `fmg_${token.slice(4)}`, `${token}\n`])
    expect(isToken(wrong), wrong).toBe(false)
  expect(new Set(Array.from({ length: 100 }, newToken)).size).toBe(100)
})

test('a malformed header and an unknown token are alike', async () => {
  const { community } = await createTestCommunity()
  for (const header of ['Bearer', 'Bearer  ', `Bearer ${newToken()}`, 'Token abc', `Bearer ${'x'.repeat(600)}`]) {
    const response = await request(community, 'GET', me, { headers: { authorization: header } })
    expect({ status: response.status, body: response.body }).toEqual({ status: 401, body: unauthorized })
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
  }
})

test('the scheme of the header is not case-sensitive', async () => {
  const { community, token } = await createTestCommunity()
  for (const header of [`bearer ${token}`, `BEARER   ${token}`])
    expect((await request(community, 'GET', me, { headers: { authorization: header } })).status).toBe(200)
})

test('a host with its own keys is called first, and ours still work', async () => {
  const seen: string[] = []
  const host: { owner: string } = { owner: '' }
  const { community, owner, token, send } = await createTestCommunity({
    authenticate: async (given): Promise<HostPrincipal | 'expired' | undefined> => {
      seen.push(given)
      if (given === 'session-1') return { network_id: '1', member_id: host.owner, scopes: ['me:read'], key: 'session' }
      if (given === 'session-0') return 'expired'
      return undefined
    },
  })
  host.owner = owner.id
  expect((await request(community, 'GET', me, bearer('session-1'))).body.id).toBe(owner.id)
  const forbidden = await request(community, 'GET', '/admin/v1/networks/1/tags', bearer('session-1'))
  expect(forbidden.body).toEqual({ error: 'forbidden', message: 'The API token lacks the scope tags:read.', status: 403 })
  expect((await request(community, 'GET', me, bearer('session-0'))).body).toEqual(expired)
  expect((await request(community, 'GET', me, bearer('session-2'))).body).toEqual(unauthorized)
  expect((await send('me.show')).status).toBe(200)
  expect(seen).toEqual(['session-1', 'session-1', 'session-0', 'session-2', token])
})

test("a host's token is bound to its network like ours", async () => {
  const { community } = await createTestCommunity({
    authenticate: async () => ({ network_id: '2', member_id: '7', scopes: ['*'], key: 'k' }),
  })
  expect((await request(community, 'GET', me, bearer('any'))).body).toEqual({ error: 'Network not found' })
})

test('scopes: `*:read` is every read and no write, `*` is everything', async () => {
  const { sendAs, newToken: tokenOf } = await createTestCommunity()
  const reader = sendAs(await tokenOf(['*:read']))
  expect((await reader('tags.list')).status).toBe(200)
  expect((await reader('tags.create', { body: { title: 'x' } })).status).toBe(403)
  const tagger = sendAs(await tokenOf(['tags:write']))
  expect((await tagger('tags.create', { body: { title: 'x' } })).status).toBe(201)
  expect((await tagger('tags.list')).status).toBe(403)
})

test('a look at the key that loses a race is taken again', async () => {
  const storage = memoryStorage()
  let losing = 0
  const { send } = await createTestCommunity({
    storage: wrappedStorage(storage, {
      transaction: async (work, options) => {
        if (losing-- > 0) throw new Conflict('lost')
        return storage.transaction(work, options)
      },
    }),
  })
  losing = 2
  expect((await send('me.show')).status).toBe(200)
})

test('a key that comes back in another network is of that network', async () => {
  const storage = memoryStorage()
  const { community, token } = await createTestCommunity({ storage })
  await community.networks.create({
    id: '2',
    subdomain: 'other',
    title: 'Other',
    owner: { email: 'b@example.org', first_name: 'B', last_name: 'B' },
  })
  expect((await request(community, 'GET', me, bearer(token))).status).toBe(200)
  await storage.transaction(async (tx) => {
    const [key] = await tx.find(apiKeys, {})
    if (key && (await tx.remove(apiKeys, key.id))) await tx.insert(apiKeys, { ...key, network_id: '2' })
  })
  expect((await request(community, 'GET', me, bearer(token))).body).toEqual({ error: 'Network not found' })
})

test.each(['accept', 'refuse'] as const)('keys of members who left, with keysOfFormerMembers %o', async (keysOfFormerMembers) => {
  const { community, send } = await createTestCommunity({ keysOfFormerMembers })
  const add = async (name: string) => {
    const { body } = await send('members.create', { body: { email: `${name}@example.org`, first_name: name, last_name: '' } })
    const { token, key } = await community.keys.create({ network: '1', name, scopes: ['*'], member_id: body.id })
    return { id: String(body.id), token, key }
  }
  const [stays, banned, deleted] = [await add('stays'), await add('banned'), await add('deleted')]
  const before = await Promise.all([stays, banned, deleted].map(({ token }) => request(community, 'GET', me, bearer(token))))
  expect(before.map(({ status }) => status)).toEqual([200, 200, 200])
  const space = (await send('spaces.create', { body: { name: 'Studio' } })).body.id
  await send('space_members.ban', { params: { space_id: space, user_id: banned.id } })
  await send('members.delete', { params: { id: deleted.id } })
  const after = await Promise.all([stays, banned, deleted].map(({ token }) => request(community, 'GET', me, bearer(token))))
  const former = keysOfFormerMembers === 'refuse' ? 401 : 200
  expect(after.map(({ status }) => status)).toEqual([200, former, former])
  const states = new Map((await community.keys.list('1')).map(({ name, member_state }) => [name, member_state]))
  expect([...states]).toEqual([
    ['test', 'active'],
    ['stays', 'active'],
    ['banned', 'banned'],
    ['deleted', 'deleted'],
  ])
})

test.each([
  ['revoked', { body: { title: 'x' }, headers: {} }],
  ['revoked and repeated', { body: { title: 'x' }, headers: { 'idempotency-key': 'k' } }],
  ['revoked, of a request that is refused', { body: { title: 'taken' }, headers: { 'idempotency-key': 'k' } }],
])('a key that is %s while the body is on its way writes nothing', async (_, { body, headers }) => {
  const { community, send, newToken } = await createTestCommunity()
  const before = await community.keys.list('1')
  const token = await newToken(['*'])
  const key = (await community.keys.list('1')).find(({ id }) => !before.some((other) => other.id === id))
  const bytes = new TextEncoder().encode(JSON.stringify(body))
  const response = await community.serve({
    method: 'POST',
    path: '/admin/v1/networks/1/tags',
    search: '',
    secure: true,
    header: (name) => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers })[name] ?? null,
    async read() {
      await community.keys.revoke('1', key?.id ?? '')
      return bytes
    },
  })
  expect({ status: response.status, body: JSON.parse(String(response.body)) }).toEqual({ status: 401, body: expired })
  expect((await send('tags.list')).body.items).toEqual([])
})
