import { expect, test } from 'vitest'
import { createTestCommunity } from '../../support/community.ts'

const json = { 'content-type': 'application/json' }

test('`owns` goes by the path alone', async () => {
  const { community } = await createTestCommunity()
  for (const path of ['/admin/v1', '/admin/v1/', '/admin/v1/networks/1/tags', '/admin/v1/nothing', '/webhooks/v1/spec.json'])
    expect(community.owns(path), path).toBe(true)
  for (const path of ['', '/', '/admin', '/admin/v10', '/admin/v1x', '/webhooks/v1', '/webhooks/v1/spec.jsonx', '/x/admin/v1'])
    expect(community.owns(path), path).toBe(false)
})

test('`handle` leaves what is not ours to the host, its body untouched', async () => {
  const { community } = await createTestCommunity()
  const request = new Request('https://api.test/upload', { method: 'POST', body: '{"a":1}', headers: json })
  expect(await community.handle(request)).toBeUndefined()
  expect(request.bodyUsed).toBe(false)
  expect(await request.text()).toBe('{"a":1}')
})

test('`handle` serves what is ours, a 404 too', async () => {
  const { community, token } = await createTestCommunity()
  const headers = { authorization: `Bearer ${token}` }
  const tags = await community.handle(new Request('https://api.test/admin/v1/networks/1/tags', { headers }))
  const nothing = await community.handle(new Request('https://api.test/admin/v1/nothing', { headers }))
  expect([tags?.status, nothing?.status]).toEqual([200, 404])
})

test('a refused request leaves its body unread', async () => {
  const { community } = await createTestCommunity()
  const request = new Request('https://api.test/admin/v1/networks/1/tags', { method: 'POST', body: '{}', headers: json })
  expect((await community.fetch(request)).status).toBe(401)
  expect(request.bodyUsed).toBe(false)
})

test('`fetch` responds with a 404 to what is not ours', async () => {
  const { community } = await createTestCommunity()
  const response = await community.fetch(new Request('https://api.test/upload', { method: 'POST', body: 'x' }))
  expect({ status: response.status, body: await response.json() }).toEqual({
    status: 404,
    body: { error: 'There is no path /upload' },
  })
})

test('a request of Node in place of a `Request` is an error that names the remedy', async () => {
  const { community } = await createTestCommunity()
  const ofNode = { method: 'GET', url: '/admin/v1/networks/1/tags', headers: {} } as unknown as Request
  const remedy = new TypeError(
    'The community takes a Request, whose `url` is absolute, got `/admin/v1/networks/1/tags`. For requests of Node, mount communityMiddleware of folkmoot/node',
  )
  await expect(community.fetch(ofNode)).rejects.toEqual(remedy)
  await expect(community.handle(ofNode)).rejects.toEqual(remedy)
})

test('below a base path everything is there, and nothing outside it', async () => {
  const { community, token } = await createTestCommunity({ basePath: '/community' })
  const get = (path: string) =>
    community.fetch(new Request(`https://api.test${path}`, { headers: { authorization: `Bearer ${token}` } }))
  expect(community.owns('/community/admin/v1/networks/1/tags')).toBe(true)
  expect(community.owns('/admin/v1/networks/1/tags')).toBe(false)
  expect(community.owns('/communityadmin/v1/networks/1/tags')).toBe(false)
  const list = await get('/community/admin/v1/networks/1/tags?per_page=5')
  expect(await list.json()).toEqual({
    items: [],
    links: { self: 'https://api.test/community/admin/v1/networks/1/tags?per_page=5', next: null },
  })
  expect((await get('/admin/v1/networks/1/tags')).status).toBe(404)
  expect((await get('/communityadmin/v1/networks/1/tags')).status).toBe(404)
  expect(await (await get('/community/admin/v1/spec.json')).json()).toMatchObject({ servers: [{ url: '/community' }] })
})

test('`fetch` and `handle` may be handed on without their object', async () => {
  const { fetch, handle, owns } = (await createTestCommunity()).community
  expect((await fetch(new Request('https://api.test/admin/v1/spec.json'))).status).toBe(200)
  expect(await handle(new Request('https://api.test/x'))).toBeUndefined()
  expect(owns('/x')).toBe(false)
})

test('a body that another parser has read already is used as it is', async () => {
  const { community, token } = await createTestCommunity()
  const incoming = (parsedBody: unknown, type = 'application/json') => ({
    method: 'POST',
    path: '/admin/v1/networks/1/tags',
    search: '',
    secure: true,
    header: (name: string) => ({ authorization: `Bearer ${token}`, 'content-type': type })[name] ?? null,
    read: async (): Promise<Uint8Array> => {
      throw new Error('the body was read twice')
    },
    parsedBody,
  })
  const created = await community.serve(incoming({ title: 'Gardening' }))
  expect({ status: created.status, body: JSON.parse(String(created.body)) }).toMatchObject({
    status: 201,
    body: { title: 'Gardening' },
  })
  expect((await community.serve(incoming({}))).status).toBe(422)
  expect((await community.serve(incoming({ title: 'x' }, 'application/x-www-form-urlencoded'))).status).toBe(415)
})

test('two communities on one storage are one', async () => {
  const first = await createTestCommunity()
  const { createCommunity } = await import('../../../lib/index.ts')
  const second = createCommunity({ storage: first.storage, clock: first.clock })
  await second.call('tags.create', { network: 'demo', body: { title: 'Gardening' } })
  expect((await first.send('tags.list')).body.items).toHaveLength(1)
})
