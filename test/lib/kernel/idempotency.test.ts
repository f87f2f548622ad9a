import { expect, test } from 'vitest'
import { memoryStorage } from '../../../adapters/storage/memory.ts'
import { ApiError } from '../../../lib/index.ts'
import { idempotencyKeys } from '../../../lib/storage/tables/administration.ts'
import { createTestCommunity } from '../../support/community.ts'
import { wrappedStorage } from '../../support/storage.ts'

const hour = 60 * 60 * 1000
const once = { 'idempotency-key': 'once' }
const tag = { body: { title: 'Gardening' }, headers: once }

test('a repeated POST gets the first response and happens once', async () => {
  const { send } = await createTestCommunity()
  const first = await send('tags.create', tag)
  const second = await send('tags.create', tag)
  expect({ status: second.status, body: second.body, replayed: second.headers.get('idempotency-replayed') }).toEqual({
    status: 201,
    body: first.body,
    replayed: 'true',
  })
  expect(first.headers.get('idempotency-replayed')).toBeNull()
  expect(second.headers.get('content-type')).toBe('application/json; charset=utf-8')
  expect((await send('tags.list')).body.items).toHaveLength(1)
})

test('a replay publishes nothing', async () => {
  const { send, newEvents } = await createTestCommunity()
  const body = { email: 'new@example.org', first_name: 'New', last_name: 'Member' }
  await send('members.create', { body, headers: once })
  expect(newEvents().map(({ event_type }) => event_type)).toEqual(['MemberJoinedHook'])
  await send('members.create', { body, headers: once })
  expect(newEvents()).toEqual([])
})

test('the same key with another body is refused', async () => {
  const { send } = await createTestCommunity()
  await send('tags.create', tag)
  const other = await send('tags.create', { ...tag, body: { title: 'Cooking' } })
  expect({ status: other.status, body: other.body }).toEqual({
    status: 422,
    body: { error: 'Idempotency-Key was used for another request. Use a new key for a new request' },
  })
  expect((await send('tags.list')).body.items).toHaveLength(1)
})

test('the same key for another operation is refused', async () => {
  const { send } = await createTestCommunity()
  await send('tags.create', tag)
  expect((await send('spaces.create', { body: { name: 'Gardening' }, headers: once })).status).toBe(422)
})

test('the network by its id or its subdomain, with or without a trailing slash, is the same request', async () => {
  const { token, community, network } = await createTestCommunity()
  const post = (name: string, slash: string) =>
    community.fetch(
      new Request(`https://api.example/admin/v1/networks/${name}/tags${slash}`, {
        method: 'POST',
        headers: { ...once, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(tag.body),
      }),
    )
  const responses = [await post(network.id, ''), await post(network.subdomain, ''), await post(network.subdomain, '/')]
  expect(responses.map(({ status, headers }) => [status, headers.get('idempotency-replayed')])).toEqual([
    [201, null],
    [201, 'true'],
    [201, 'true'],
  ])
})

test('the fields of a body and of a query in another order are the same request', async () => {
  const { token, community, network, send } = await createTestCommunity()
  const { id: space_id } = (await send('spaces.create', { body: { name: 'Garden' } })).body
  const post = (query: string, body: object) =>
    community.fetch(
      new Request(`https://api.example/admin/v1/networks/${network.id}/posts?${query}`, {
        method: 'POST',
        headers: { ...once, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    )
  const first = await post('notify=false&from=job', { space_id, title: 'Oil', extra: { b: [1, 2], a: null } })
  const again = await post('from=job&notify=false', { extra: { a: null, b: [1, 2] }, title: 'Oil', space_id })
  expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 201, 'true'])
  expect(await again.text()).toBe(await first.text())
  const turned = await post('from=job&notify=false', { extra: { a: null, b: [2, 1] }, title: 'Oil', space_id })
  expect(turned.status).toBe(422)
})

test('the same key for another record is refused', async () => {
  const { send } = await createTestCommunity()
  const spaces = await Promise.all(['Garden', 'Kitchen'].map((name) => send('spaces.create', { body: { name } })))
  const posts = await Promise.all(
    spaces.map(({ body }) => send('posts.create', { body: { space_id: body.id, title: 'Hello', description: 'All' } })),
  )
  const react = (post_id: string) => send('post_reactions.create', { params: { post_id }, body: { emoji: '👍' }, headers: once })
  expect((await react(posts[0]?.body.id)).status).toBe(201)
  expect((await react(posts[1]?.body.id)).status).toBe(422)
})

test('concurrent duplicates run once', async () => {
  const { send } = await createTestCommunity()
  const responses = await Promise.all(Array.from({ length: 20 }, () => send('tags.create', tag)))
  expect(new Set(responses.map(({ status, body }) => JSON.stringify({ status, body }))).size).toBe(1)
  expect(responses.filter(({ headers }) => headers.get('idempotency-replayed') === null)).toHaveLength(1)
  expect((await send('tags.list')).body.items).toHaveLength(1)
})

test('a duplicate that gets its response in another process gets the same one', async () => {
  // The second one does not see the first one's key yet, as in a database where both transactions run at once.
  let blind = false
  const storage = wrappedStorage(memoryStorage(), {
    tx: (tx) => ({
      async find(table, query) {
        if (!blind || table.name !== idempotencyKeys.name) return tx.find(table, query)
        blind = false
        return []
      },
    }),
  })
  const { send } = await createTestCommunity({ storage })
  const first = await send('tags.create', tag)
  blind = true
  const second = await send('tags.create', tag)
  expect(blind).toBe(false)
  expect(second.body).toEqual(first.body)
  expect(second.headers.get('idempotency-replayed')).toBe('true')
  expect((await send('tags.list')).body.items).toHaveLength(1)
})

test('a response is kept for 24 hours', async () => {
  const { send, clock } = await createTestCommunity()
  const first = await send('tags.create', tag)
  clock.advance(24 * hour - 1)
  expect((await send('tags.create', tag)).body.id).toBe(first.body.id)
  clock.advance(1)
  const later = await send('tags.create', tag)
  expect(later.headers.get('idempotency-replayed')).toBeNull()
  expect(later.body.id).not.toBe(first.body.id)
})

test('expired keys are cleared away', async () => {
  const { send, clock, storage } = await createTestCommunity()
  for (const key of ['a', 'b', 'c']) await send('tags.create', { ...tag, headers: { 'idempotency-key': key } })
  clock.advance(24 * hour)
  await send('tags.create', { ...tag, headers: { 'idempotency-key': 'd' } })
  const kept = await storage.transaction((tx) => tx.find(idempotencyKeys, {}))
  expect(kept.map(({ key }) => key)).toEqual(['d'])
})

test('a refusal of the operation is kept and given again', async () => {
  const { send, community } = await createTestCommunity()
  const member = { email: 'host@example.org', first_name: 'Ada', last_name: 'Again' }
  const first = await send('members.create', { body: member, headers: once })
  expect(first.status).toBe(422)
  const list = await community.call('members.list', { network: '1' })
  const host = list.items[0]?.id ?? ''
  await community.call('members.update', { network: '1', params: { id: host }, body: { email: 'other@example.org' } })
  const second = await send('members.create', { body: member, headers: once })
  expect({ status: second.status, body: second.body, replayed: second.headers.get('idempotency-replayed') }).toEqual({
    status: 422,
    body: first.body,
    replayed: 'true',
  })
})

test('a malformed body is no use of the key', async () => {
  const { send } = await createTestCommunity()
  expect((await send('tags.create', { body: {}, headers: once })).status).toBe(422)
  expect((await send('tags.create', tag)).status).toBe(201)
})

test('neither a fault nor a veto of the host is kept', async () => {
  const problems: unknown[] = [new Error('database on fire'), new ApiError(409, { error: 'Not on Sundays' })]
  const { send } = await createTestCommunity({
    hooks: {
      before: () => {
        const problem = problems.shift()
        if (problem) throw problem
      },
    },
  })
  expect((await send('tags.create', tag)).status).toBe(500)
  expect((await send('tags.create', tag)).status).toBe(409)
  const third = await send('tags.create', tag)
  expect({ status: third.status, replayed: third.headers.get('idempotency-replayed') }).toEqual({ status: 201, replayed: null })
})

test('each API key has its own idempotency keys', async () => {
  const { send, sendAs, newToken } = await createTestCommunity()
  const space = { ...tag, body: { name: 'Room' } }
  await send('spaces.create', space)
  const other = await sendAs(await newToken(['*']))('spaces.create', space)
  expect(other.headers.get('idempotency-replayed')).toBeNull()
  expect((await send('spaces.list')).body.items).toHaveLength(2)
})

test('a key must be 1 to 255 printable ASCII characters', async () => {
  const { send } = await createTestCommunity()
  for (const key of ['', 'x'.repeat(256), 'tab\tbed', 'schlüssel']) {
    const response = await send('tags.create', { ...tag, headers: { 'idempotency-key': key } })
    expect({ key, status: response.status, body: response.body }).toEqual({
      key,
      status: 400,
      body: { error: 'Idempotency-Key must be 1 to 255 printable ASCII characters' },
    })
  }
  expect((await send('tags.create', { ...tag, headers: { 'idempotency-key': 'x'.repeat(255) } })).status).toBe(201)
})

test('other methods take no notice of a key', async () => {
  const { send } = await createTestCommunity()
  const { body } = await send('tags.create', { body: { title: 'Gardening' } })
  const update = (title: string) => send('tags.update', { params: { id: body.id }, body: { title }, headers: once })
  expect((await update('A')).body.title).toBe('A')
  expect((await update('B')).body.title).toBe('B')
})
