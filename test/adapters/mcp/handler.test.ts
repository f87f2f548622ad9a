import { expect, test } from 'vitest'
import { createMcp } from '../../../adapters/mcp/index.ts'
import { isList } from '../../../adapters/mcp/schema.ts'
import { toolsOf } from '../../../adapters/mcp/tools.ts'
import { testCommunity } from '../../../adapters/testing/index.ts'
import { operations } from '../../../lib/operations.ts'
import { call, clientOf } from '../../support/mcp.ts'

const grace = { email: 'grace@example.org', first_name: 'Grace', last_name: 'Oak' }

test('an agent reads records, and follows a list to its end', async () => {
  const { api, client } = await clientOf()
  for (let turn = 1; turn <= 5; turn++) await api.tags.create({ title: `Tag ${turn}` })
  const titles: unknown[] = []
  let cursor: unknown
  do {
    const { data } = await call(client, 'tags_list', { limit: 2, ...(cursor ? { cursor } : {}) })
    const { items, next_cursor } = data as { items: { title: string }[]; next_cursor: string | null }
    titles.push(items.map(({ title }) => title))
    cursor = next_cursor
  } while (cursor)
  expect(titles).toEqual([['Tag 1', 'Tag 2'], ['Tag 3', 'Tag 4'], ['Tag 5']])
  const me = await call(client, 'me_show')
  expect(me.data).toMatchObject({ name: 'Ada Ash' })
  expect(JSON.parse(me.text)).toEqual(me.data)
})

test('a group that may write changes records, with its events; another one has no such tool', async () => {
  const { api, client, events } = await clientOf({ write: ['members'] })
  const made = await call(client, 'members_create', { body: grace })
  const { id } = made.data as { id: string }
  await call(client, 'members_update', { id, body: { last_name: 'Elm' } })
  expect((await api.members.show(id)).last_name).toBe('Elm')
  expect(events().map(({ event_type }) => event_type)).toEqual(['MemberJoinedHook', 'MemberUpdatedHook'])
  expect(await call(client, 'members_delete', { id })).toMatchObject({ isError: false, data: { done: true } })
  await expect(call(client, 'tags_create', { body: { title: 'Oil' } })).rejects.toThrow('there is no tool "tags_create"')
})

test('a refusal of the API is an error of the tool, with its sentence', async () => {
  const { client } = await clientOf({ write: ['members'] })
  const refused = await call(client, 'members_create', { body: { email: 'grace' } })
  expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('422') })
  expect(await call(client, 'members_show', { id: '999' })).toMatchObject({
    isError: true,
    text: expect.stringContaining('Member not found'),
  })
})

test('a list with count returns the number of all records, and its cursor continues without counting', async () => {
  const { client, api } = await clientOf()
  for (const title of ['Red', 'Green', 'Blue']) await api.tags.create({ title, color: '#FF5733' })
  const first = (await call(client, 'tags_list', { limit: 2, count: true })).data as Record<string, unknown>
  expect(first).toMatchObject({ items: [{}, {}], total_count: 3, next_cursor: expect.not.stringContaining('count') })
  const rest = (await call(client, 'tags_list', { cursor: first['next_cursor'] })).data as Record<string, unknown>
  expect(rest).toEqual({ items: [expect.anything()], next_cursor: null })
  expect((await call(client, 'members_list', { q: 'no such name', count: true })).data).toEqual({
    ...{ items: [], next_cursor: null, total_count: 0 },
  })
  expect(await call(client, 'tags_list', { count: 'many' })).toMatchObject({
    isError: true,
    text: expect.stringContaining('count'),
  })
})

test('every list takes count, and no other tool does', () => {
  const withCount = toolsOf(operations, { write: ['*'] }, String).filter(
    ({ inputSchema }) => 'count' in Object(inputSchema['properties']),
  )
  expect(withCount.map(({ operation }) => operation.id)).toEqual(operations.filter(isList).map(({ id }) => id))
})

test.each([
  ['members_list', { limit: 0 }, 'limit must be a whole number from 1 to 100'],
  ['members_list', { cursor: 7 }, 'cursor must be the text in `next_cursor`'],
  ['members_list', { cursor: 'zzz' }, 'cursor must be the text in `next_cursor`'],
  ['members_list', { cursor: 'after=101' }, 'cursor must be the text in `next_cursor`'],
  ['members_list', { limit: '1.5' }, 'limit must be a whole number from 1 to 100'],
  ['members_list', { cursor: 'page=2&after=101', limit: 101 }, 'limit must be a whole number from 1 to 100'],
  ['members_list', { cursor: 'page=2&after=101&pag=3' }, 'cursor must be the text in `next_cursor`'],
  ['members_list', { cursor: 'page=2&after=zzz' }, 'after must be copied unchanged'],
  ['members_list', { filter: 'x' }, 'members_list has no argument "filter". Arguments: '],
  ['tags_update', { id: '1', body: { titel: 'x' } }, 'the body of tags_update has no field "titel"; did you mean title?'],
  ['members_show', {}, 'id must be an id'],
  ['members_show', { id: '..' }, 'id must be an id'],
])('wrong arguments of %s are named: %j', async (name, given, sentence) => {
  const { client } = await clientOf({ write: ['tags'] })
  expect(await call(client, name, given)).toMatchObject({ isError: true, text: expect.stringContaining(sentence) })
})

test('the scopes of the token hold', async () => {
  const { newToken, url, community } = await clientOf()
  const reader = await newToken('tags:read')
  const asked = await createMcp(community)(
    new Request(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${reader}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'members_list', arguments: {} } }),
    }),
  )
  expect(await asked.text()).toContain('403')
})

test('a request without a token is a 401, unless the handler has one', async () => {
  const { community, token } = await testCommunity()
  const request = () =>
    new Request('https://api.test/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'me_show', arguments: {} } }),
    })
  const refused = await createMcp(community)(request())
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  const answered = await createMcp(community, { token }).fetch(request())
  expect([answered.status, await answered.text()]).toEqual([200, expect.stringContaining('Ada Ash')])
})

const post = (body: unknown, headers: Record<string, string> = {}, url = 'http://localhost:8080/mcp') =>
  new Request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: JSON.stringify(body),
  })
const showMe = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'me_show', arguments: {} } }

const messages = {
  initialize: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  'tools/list': {},
  'tools/call': { name: 'me_show', arguments: {} },
  ping: {},
}

test.each(Object.entries(messages))('%s with a token that does not work is a 401 over HTTP', async (method, params) => {
  const { community, clock, newToken } = await testCommunity()
  const mcp = createMcp(community)
  const send = (token: string) => mcp(post({ jsonrpc: '2.0', id: 1, method, params }, { authorization: `Bearer ${token}` }))
  const refused = async (token: string) => {
    const { status, headers } = await send(token)
    return [status, headers.get('www-authenticate')]
  }
  const invalid = [401, 'Bearer error="invalid_token"']
  const network_id = (await community.networks.list())[0]?.id ?? ''
  const revoked = await community.keys.create({ network: network_id, name: 'Agent', scopes: ['*'] })
  const ending = await community.keys.create({
    ...{ network: network_id, name: 'Agent', scopes: ['*'], expires_at: new Date(clock.now() + 60_000).toISOString() },
  })
  for (const { token } of [revoked, ending]) expect((await send(token)).status).toBe(200)
  await community.keys.revoke(network_id, revoked.key.id)
  clock.advance(60_000)
  expect(await refused(revoked.token)).toEqual(invalid)
  expect(await refused(ending.token)).toEqual(invalid)
  expect(await refused('fmt_made_up')).toEqual(invalid)
  expect(await refused('two, tokens')).toEqual(invalid)
  // A token that lacks a scope works: the tool says what it lacks.
  expect((await send(await newToken('tags:read'))).status).toBe(200)
})

test('a stream and the end of a session need a token that works, too', async () => {
  const { community, token } = await testCommunity()
  const mcp = createMcp(community)
  for (const method of ['GET', 'DELETE']) {
    const status = async (sent: string) =>
      (await mcp(new Request('https://api.test/mcp', { method, headers: { authorization: `Bearer ${sent}` } }))).status
    expect(await status('fmt_made_up')).toBe(401)
    expect(await status(token)).not.toBe(401)
  }
})

test('whether a token works is not counted against its rate limit', async () => {
  let counted = 0
  const rateLimiter = {
    async count() {
      counted++
      return { allowed: true, remaining: 99, resetSeconds: 12 }
    },
  }
  const { community, token } = await testCommunity({ rateLimiter })
  await community.networks.update('1', { service_plan: 'standard' })
  const mcp = createMcp(community)
  const authorization = { authorization: `Bearer ${token}` }
  for (let turn = 0; turn < 5; turn++) await mcp(post({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }, authorization))
  expect(counted).toBe(0)
  await mcp(post(showMe, authorization))
  expect(counted).toBe(1)
})

test('a batch lists the tools once, so that a short request has no huge response', async () => {
  const { community, token } = await testCommunity()
  const batch = Array.from({ length: 100 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }))
  const response = await createMcp(community, { write: ['*'] })(post(batch, { authorization: `Bearer ${token}` }))
  const text = await response.text()
  expect(text.match(/"inputSchema"/g)).toHaveLength(community.operations.length)
  expect(text.match(/tools\/list may come once in a batch/g)).toHaveLength(99)
})

test('with the option `token` the handler serves no page of a stranger, whatever its name stands for', async () => {
  const { community, token } = await testCommunity()
  const mcp = createMcp(community, { token, origins: ['https://agents.example.org'] })
  const statusFor = async (origin?: string, host = 'localhost:8080') =>
    (await mcp(post(showMe, origin === undefined ? {} : { origin }, `http://${host}/mcp`))).status
  expect(await statusFor()).toBe(200)
  for (const origin of ['http://localhost:3000', 'http://127.0.0.1:8080', 'http://[::1]:8080', 'https://agents.example.org'])
    expect({ origin, status: await statusFor(origin) }).toEqual({ origin, status: 200 })
  const strange = ['null', 'http://localhost.attacker.example', 'https://agents.example.org:444', 'http://agents.example.org']
  for (const origin of strange) expect({ origin, status: await statusFor(origin) }).toEqual({ origin, status: 403 })
  expect(await statusFor('http://attacker.example:8080', 'attacker.example:8080')).toBe(403)
})

test('a page that brings its token may come from anywhere', async () => {
  const { community, token } = await testCommunity()
  const headers = { origin: 'https://inspector.example', authorization: `Bearer ${token}` }
  expect((await createMcp(community)(post(showMe, headers))).status).toBe(200)
})

test.each([{}, { basePath: '/community' }, { publicUrl: 'https://api.example.org/below', basePath: '/community' }])(
  'a community is found where it is mounted: %j',
  async (options) => {
    const { client } = await clientOf({}, options)
    expect((await call(client, 'network_show')).data).toMatchObject({ title: 'Paint Pals' })
  },
)

test('of several networks the option names one', async () => {
  const { community, client, token, url } = await clientOf({ network: 'paint-pals' })
  await community.networks.create({ subdomain: 'other', title: 'Other', owner: grace })
  expect((await call(client, 'network_show')).data).toMatchObject({ title: 'Paint Pals' })
  const request = new Request(url, { method: 'POST', headers: { authorization: `Bearer ${token}` } })
  await expect(createMcp(community)(request)).rejects.toThrow(
    'option `network` must name the network, because the community has 2',
  )
})

test('wrong options are named, and never a token', async () => {
  const { community } = await testCommunity()
  expect(() => createMcp(community, { write: ['post'] })).toThrow('createMcp: option `write` must name groups, got "post"')
  expect(() => createMcp(community, { token: '' })).toThrow('option `token` must be an API token')
  expect(() => createMcp(community, { write: 'posts' } as never)).toThrow('option `write` must be a list of groups')
  expect(() => createMcp(community, { token: ['fmt_secret'] } as never)).toThrow(
    /^createMcp: option `token` must be an API token$/,
  )
  for (const origins of ['https://a.example', ['a.example'], ['https://a.example/'], [7]])
    expect(() => createMcp(community, { origins } as never)).toThrow('option `origins` must be a list of origins, such as')
  expect(() => createMcp({} as never)).toThrow('the first argument must be a community')
})

test('an agent previews a change, and makes it if it is still the same', async () => {
  const { client, api } = await clientOf({ write: ['tags'] })
  const { data } = await call(client, 'tags_create', { body: { title: 'Oil' } })
  const { id } = Object(data)
  const change = { id, body: { title: 'Ink' } }
  const preview = await call(client, 'tags_update', { ...change, preview: true })
  const sentence = '1 tag, badge or option changes; no event; nothing was changed'
  expect(preview.data).toMatchObject({ rows: { segments: { changed: 1 } }, sentence, token: expect.any(String) })
  expect((await api.tags.show(id)).title).toBe('Oil')
  const { token } = Object(preview.data)
  await api.tags.update(id, { title: 'Gouache' })
  expect(await call(client, 'tags_update', { ...change, if_preview: token })).toMatchObject({
    isError: true,
    text: expect.stringContaining('Preview it again'),
  })
  const { token: fresh } = Object((await call(client, 'tags_update', { ...change, preview: true })).data)
  expect((await call(client, 'tags_update', { ...change, if_preview: fresh })).data).toMatchObject({ title: 'Ink' })
  expect(await call(client, 'tags_update', { ...change, preview: 'yes' })).toMatchObject({ isError: true })
  expect(await call(client, 'tags_show', { id, preview: true })).toMatchObject({ isError: true })
})
