import { expect, test } from 'vitest'
import { createTestCommunity, request } from '../../support/community.ts'

const tags = '/admin/v1/networks/1/tags'

test('HEAD gets the response of GET, without the body', async () => {
  const { community, token } = await createTestCommunity()
  const headers = { authorization: `Bearer ${token}` }
  const get = await community.fetch(new Request(`https://api.test${tags}`, { headers }))
  const head = await community.fetch(new Request(`https://api.test${tags}`, { headers, method: 'HEAD' }))
  expect({ status: head.status, headers: Object.fromEntries(head.headers), text: await head.text() }).toEqual({
    status: get.status,
    headers: Object.fromEntries(get.headers),
    text: '',
  })
})

test('HEAD is refused as GET is, without the body', async () => {
  const { community } = await createTestCommunity()
  const head = await community.fetch(new Request(`https://api.test${tags}`, { method: 'HEAD' }))
  expect({ status: head.status, text: await head.text() }).toEqual({ status: 401, text: '' })
})

test('HEAD needs the scope of GET', async () => {
  const { community, newToken } = await createTestCommunity()
  const status = async (scope: string) =>
    (await request(community, 'HEAD', tags, { headers: { authorization: `Bearer ${await newToken([scope])}` } })).status
  expect(await status('tags:read')).toBe(200)
  expect(await status('tags:write')).toBe(403)
})

test('a method that a path lacks is a 405 that lists the others, before any token is looked at', async () => {
  const { community } = await createTestCommunity()
  const response = await request(community, 'DELETE', tags)
  expect({ status: response.status, body: response.body, allow: response.headers.get('allow') }).toEqual({
    status: 405,
    body: { error: 'DELETE is not allowed here. Allowed: GET, HEAD, POST.' },
    allow: 'GET, HEAD, POST',
  })
})

test('a literal path does not take the methods of an id', async () => {
  const { community, token } = await createTestCommunity()
  const headers = { authorization: `Bearer ${token}` }
  for (const path of ['/admin/v1/networks/1/members/by_email', '/admin/v1/networks/1/members/by_email/']) {
    const response = await request(community, 'DELETE', path, { headers })
    expect({ status: response.status, allow: response.headers.get('allow') }).toEqual({ status: 405, allow: 'GET, HEAD' })
  }
})

test('unknown methods are a 405 too', async () => {
  const { community } = await createTestCommunity()
  for (const method of ['OPTIONS', 'PROPFIND', 'get-all', 'constructor', '__PROTO__', 'ALL'])
    expect((await request(community, method, tags)).status, method).toBe(405)
})

test('an unknown path is a JSON 404', async () => {
  const { community, token } = await createTestCommunity()
  const paths = [
    '/',
    '/admin',
    '/admin/v1',
    '/admin/v1/networks',
    '/admin/v1/networks/',
    '/admin/v2/networks/1/tags',
    '/admin/v1/networks/1/nothing',
    '/admin/v1/networks/1/tags/1/2/3/4',
    '/admin/v1/networks/1/constructor',
    '/admin/v1/networks/1/__proto__',
  ]
  for (const path of paths) {
    const response = await request(community, 'GET', path, { headers: { authorization: `Bearer ${token}` } })
    expect({ path, status: response.status, body: response.body }).toEqual({
      path,
      status: 404,
      body: { error: `There is no path ${path}` },
    })
  }
})

test('a very long path is not repeated in full', async () => {
  const { community } = await createTestCommunity()
  const response = await request(community, 'GET', `/admin/v1/${'x'.repeat(5000)}`)
  expect(response.body.error.length).toBeLessThan(300)
})

test('the documents can be read without a token, with and without a trailing slash, and only read', async () => {
  const { community } = await createTestCommunity()
  for (const [path, part] of [
    ['/admin/v1/spec.json', 'api'],
    ['/webhooks/v1/spec.json', 'webhooks'],
  ] as const) {
    const response = await request(community, 'GET', path)
    expect(response.status).toBe(200)
    expect(response.body).toEqual(JSON.parse(JSON.stringify(community.openapi(part))))
    expect((await request(community, 'GET', `${path}/`)).body).toEqual(response.body)
    expect(community.owns(`${path}/`)).toBe(true)
    const post = await request(community, 'POST', path)
    expect({ status: post.status, allow: post.headers.get('allow') }).toEqual({ status: 405, allow: 'GET, HEAD' })
  }
})

test('responses are kept by no cache and taken for nothing but JSON', async () => {
  const { community, token } = await createTestCommunity()
  const headers = { authorization: `Bearer ${token}` }
  const seen = [
    await request(community, 'GET', tags, { headers }),
    await request(community, 'GET', tags),
    await request(community, 'GET', '/admin/v1/nothing'),
    await request(community, 'GET', '/admin/v1/spec.json'),
  ].map((response) => [response.status, response.headers.get('cache-control'), response.headers.get('x-content-type-options')])
  expect(seen).toEqual([200, 401, 404, 200].map((status) => [status, 'no-store', 'nosniff']))
})

test('a body with a Content-Encoding is refused, whatever it is; identity is no encoding', async () => {
  const { community, token } = await createTestCommunity()
  const post = (encoding: string, body: string | FormData = '{"title":"Oil"}', path = tags) =>
    request(community, 'POST', path, {
      headers: {
        authorization: `Bearer ${token}`,
        'content-encoding': encoding,
        ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
      },
      body,
    })
  for (const encoding of ['gzip', 'deflate', 'br', 'zstd', 'gzip, identity', 'GZIP'])
    expect(await post(encoding)).toMatchObject({
      status: 415,
      body: { error: `Content-Encoding must be identity, got ${encoding}. Send the body as it is` },
    })
  expect((await post('gzip', new FormData(), '/admin/v1/networks/1/assets')).status).toBe(415)
  expect((await post('identity')).status).toBe(201)
})
