import { expect, onTestFinished, test } from 'vitest'
import { type ClientOptions, createClient } from '../../../lib/client/index.ts'
import { createTestCommunity } from '../../support/community.ts'
import { onLoopback } from '../../support/on-loopback.ts'
import { json, scripted } from '../../support/scripted-server.ts'

test.each([
  ['https://api.test', 'https://api.test/admin/v1/networks/1/members/5/'],
  ['https://api.test/', 'https://api.test/admin/v1/networks/1/members/5/'],
  ['https://api.test/prefix', 'https://api.test/prefix/admin/v1/networks/1/members/5/'],
  ['https://api.test/prefix//', 'https://api.test/prefix/admin/v1/networks/1/members/5/'],
  ['https://api.test/prefix/admin/v1/', 'https://api.test/prefix/admin/v1/networks/1/members/5/'],
  ['http://127.0.0.1:4000', 'http://127.0.0.1:4000/admin/v1/networks/1/members/5/'],
])('the base URL %s leads to %s', async (baseUrl, address) => {
  const { client, requests } = scripted([json({})], { baseUrl })
  await client.members.show(5)
  expect(requests[0]?.url).toBe(address)
  expect(Object.fromEntries(requests[0]?.headers ?? [])).toEqual({
    accept: 'application/json',
    authorization: 'Bearer secret-token',
  })
})

test('ids may be texts, numbers and bigints; a network may be its subdomain', async () => {
  const { client, requests } = scripted([json({}), json({}), json({}), json({})], { network: 'paint-pals' })
  await client.tags.show('18446744073709551615')
  await client.tags.show(18446744073709551615n)
  await client.spaces.members.show(7, 'a/b?c#d')
  await client.spaces.show(7)
  expect(requests.map(({ url }) => url.replace('https://api.test/admin/v1/networks/', ''))).toEqual([
    'paint-pals/tags/18446744073709551615/',
    'paint-pals/tags/18446744073709551615/',
    'paint-pals/spaces/7/members/a%2Fb%3Fc%23d/',
    'paint-pals/spaces/7',
  ])
})

test.each([undefined, null, '', '.', '..', {}, 1.5, Number.NaN, 2 ** 53, true])('%s is no id', (id) => {
  const { client, requests } = scripted([])
  expect(() => client.tags.show(id as never)).toThrow('tags.show: id must be an id, as a text or a number')
  expect(requests).toEqual([])
})

test('arguments in the wrong place are refused before anything is sent', () => {
  const { client, requests } = scripted([])
  const wrong: readonly (readonly [call: () => unknown, message: string])[] = [
    // @ts-expect-error: it has no query
    [() => client.members.show(5, { per_page: 1 }), 'members.show: option `per_page` does not exist'],
    // @ts-expect-error: options come after the query
    [() => client.members.list({ timeout: 5 }), 'members.list: `timeout` is an option of the call'],
    // @ts-expect-error: a query has no objects
    [() => client.members.list({ email: {} }), 'members.list: email must be a text, a number or a boolean'],
    // @ts-expect-error: a query is an object
    [() => client.members.list('5'), 'members.list: the query must be an object'],
    // @ts-expect-error: there are too many
    [() => client.members.show(5, {}, {}), 'members.show: there are too many arguments'],
    [() => client.members.show(5, { timeout: 0 }), '`timeout` must be a number of milliseconds above 0'],
    [() => client.members.show(5, { maxRetries: -1 }), '`maxRetries` must be a whole number from 0'],
    [() => client.tags.create({ title: 'Oil' }, { idempotencyKey: 'é' }), '`idempotencyKey` must be 1 to 255'],
    [() => client.call('members.sing'), 'there is no operation members.sing'],
  ]
  for (const [call, message] of wrong) expect(call).toThrow(message)
  expect(requests).toEqual([])
})

test('createClient names every wrong option in one error, and never the token', () => {
  const wrong = {
    ...{ baseUrl: 'https://a:b@api.test', network: '../1', token: 'sec ret', fetch: 5, timeout: -1, maxRetries: 1.5 },
    ...{ maxRetryWait: 0, maxResponseBytes: 0, ids: 'number', onRetry: 1, tokn: 'sec ret' },
  }
  const call = () => createClient(wrong as unknown as ClientOptions)
  for (const name of Object.keys(wrong)) expect(call).toThrow(`option \`${name}\``)
  expect(call).not.toThrow('sec ret')
  expect(() => createClient(undefined as unknown as ClientOptions)).toThrow('createClient needs { baseUrl, network, token }')
})

test('a token may be a function, called before each try', async () => {
  let count = 0
  const token = async () => `token-${++count}`
  const { client, requests } = scripted([json({}, 503), json({})], { token })
  await client.me.show()
  expect(requests.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer token-1', 'Bearer token-2'])
})

test('the record comes alone, or with its status and headers', async () => {
  const { client } = scripted([json({ id: '5' }, 200, { 'x-request-id': 'r' }), new Response(null, { status: 204 })])
  const { data, status, headers, requestId } = await client.tags.show(5).withResponse()
  expect({ data, status, requestId, type: headers.get('content-type') }).toEqual({
    ...{ data: { id: '5' }, status: 200, requestId: 'r', type: 'application/json' },
  })
  expect(await client.tags.delete(5).withResponse()).toMatchObject({ data: undefined, status: 204 })
})

test('withResponse of a call that fails leaves no unhandled rejection', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  await expect(
    scripted([json({}, 404)])
      .client.tags.show(5)
      .withResponse(),
  ).rejects.toThrow('404')
  await new Promise((resolve) => setImmediate(resolve))
  expect(unhandled).toEqual([])
})

test('ids that are numbers stay as they are sent, or become texts; too large ones are never rounded', async () => {
  const text = '{"id":18446744073709551615,"space_id":7,"space_ids":[7,8],"user":{"id":9},"count":5,"idea":6}'
  expect(await scripted([new Response(text)]).client.tags.show(5)).toEqual({
    ...{ id: '18446744073709551615', space_id: 7, space_ids: [7, 8], user: { id: 9 }, count: 5, idea: 6 },
  })
  expect(await scripted([new Response(text)], { ids: 'string' }).client.tags.show(5)).toEqual({
    ...{ id: '18446744073709551615', space_id: '7', space_ids: ['7', '8'], user: { id: '9' }, count: 5, idea: 6 },
  })
})

test('a response that is no JSON, or larger than allowed, is refused and not tried again', async () => {
  const page = scripted([new Response('<html>', { headers: { 'content-type': 'text/html' } })])
  await expect(page.client.me.show()).rejects.toThrow('GET /admin/v1/networks/1/me: the response is not JSON (text/html)')
  let pulled = 0
  const endless = () => {
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      pulled++
      controller.enqueue(new Uint8Array(1000))
    }
    return new Response(new ReadableStream({ pull }))
  }
  const large = scripted([endless], { maxResponseBytes: 10_000 })
  await expect(large.client.me.show()).rejects.toThrow('the response is larger than 10000 bytes (option `maxResponseBytes`)')
  expect(pulled).toBeLessThan(20)
  const announced = scripted([new Response('{}', { headers: { 'content-length': '10001' } })], { maxResponseBytes: 10_000 })
  await expect(announced.client.me.show()).rejects.toThrow('larger than 10000 bytes')
  const none = scripted([() => undefined as unknown as Response])
  await expect(none.client.me.show()).rejects.toThrow('option `fetch` returned no Response')
})

test('a redirect is followed on the own server, and the token goes nowhere else', async () => {
  const elsewhere: unknown[] = []
  const other = await onLoopback((request, response) => {
    elsewhere.push(request.headers)
    response.end('{}')
  })
  const seen: string[] = []
  const baseUrl = await onLoopback((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    const { url = '' } = request
    if (url.includes('/tags/')) return response.writeHead(301, { location: `${other}${url}` }).end()
    if (url.endsWith('/members/5/')) return response.writeHead(308, { location: url.replace(/\/$/, '') }).end()
    if (url.endsWith('/me')) return response.writeHead(302, { location: url }).end()
    response.setHeader('content-type', 'application/json')
    return response.end(JSON.stringify({ id: '5', authorization: request.headers.authorization }))
  })
  const client = createClient({ baseUrl, network: '1', token: 'secret-token' })
  expect(await client.members.update(5, { first_name: 'Ada' })).toEqual({ id: '5', authorization: 'Bearer secret-token' })
  await expect(client.tags.show(5)).rejects.toThrow(`the server redirects to ${other}. Set \`baseUrl\` to the final address`)
  await expect(client.me.show()).rejects.toMatchObject({ name: 'InvalidResponse', code: 'redirected', status: 302 })
  expect(elsewhere).toEqual([])
  expect(seen.slice(0, 3)).toEqual([
    'PATCH /admin/v1/networks/1/members/5/',
    'PATCH /admin/v1/networks/1/members/5',
    'GET /admin/v1/networks/1/tags/5/',
  ])
  expect(seen.length).toBe(7)
})

test.each([
  [302, '/admin/v1/networks/1/me', 'the server redirects more than 3 times'],
  [304, undefined, 'the server responds with 304, but without an address'],
  [302, 'javascript:alert(1)', 'the server redirects to another address. Set `baseUrl` to the final address'],
])('a redirect with the status %i to %s is named', async (status, location, problem) => {
  const baseUrl = await onLoopback((_, response) => response.writeHead(status, location === undefined ? {} : { location }).end())
  await expect(createClient({ baseUrl, network: '1', token: 'x' }).me.show()).rejects.toMatchObject({
    ...{ name: 'InvalidResponse', code: 'redirected', message: `GET /admin/v1/networks/1/me: ${problem}` },
  })
})

test('a server that is not there, and one that hangs up, are lost connections', async () => {
  const gone = createClient({ baseUrl: 'http://127.0.0.1:9', network: '1', token: 'x', maxRetries: 0 })
  await expect(gone.me.show()).rejects.toMatchObject({ name: 'ConnectionError', status: undefined })
  const baseUrl = await onLoopback((request) => request.socket.destroy())
  const client = createClient({ baseUrl, network: '1', token: 'x', maxRetries: 0 })
  await expect(client.me.show()).rejects.toMatchObject({ name: 'ConnectionError', code: 'connection_failed' })
})

test('a POST that is repeated after its response was lost happens once', async () => {
  const { community, token } = await createTestCommunity()
  let lost = 0
  const fetch = async (request: Request) => {
    const response = await community.fetch(request)
    if (lost++ < 2) throw new TypeError('fetch failed')
    return response
  }
  const timing = {
    now: () => 0,
    random: () => 0,
    after(ms: number, run: () => void) {
      if (ms < 5000) run()
      return () => {}
    },
  }
  const client = createClient({ baseUrl: 'https://api.test', network: 1, token, fetch, timing })
  const { data, headers } = await client.tags.create({ title: 'Oil' }).withResponse()
  expect(headers.get('idempotency-replayed')).toBe('true')
  expect((await client.tags.list()).items).toEqual([data])
})

test('a preview shows what a call would change, and its token lets the call happen only if that is still so', async () => {
  const { community, token } = await createTestCommunity()
  const fetch = (request: Request) => community.fetch(request)
  const client = createClient({ baseUrl: 'https://api.test', network: 1, token, fetch, maxRetries: 0 })
  const { id } = await client.tags.create({ title: 'Oil' })
  const preview = await client.preview('tags.update', { params: { id: BigInt(id) }, body: { title: 'Ink' } })
  expect(preview).toMatchObject({ rows: { segments: { changed: 1 } }, events: {}, deliveries: [] })
  const ifPreview = preview.token
  await expect(client.tags.update(id, { title: 'Gouache' }, { ifPreview })).rejects.toMatchObject({ status: 409 })
  expect(await client.tags.update(id, { title: 'Ink' }, { ifPreview })).toMatchObject({ title: 'Ink' })
  await expect(client.preview('tags.delete', { params: { id: 42 } })).rejects.toMatchObject({ status: 404 })
})

test('a call with the token of a preview is not tried again after a 409, and is refused without a token', async () => {
  const { client, requests } = scripted([json({ error: 'Preview it again' }, 409)])
  await expect(client.tags.update(7, { title: 'Ink' }, { ifPreview: 'a1' })).rejects.toMatchObject({ status: 409 })
  expect(requests.map(({ headers }) => headers.get('if-preview'))).toEqual(['a1'])
  const unset = { ifPreview: undefined } as never
  expect(() => client.tags.update(7, { title: 'Ink' }, unset)).toThrow('`ifPreview` must be the token of a preview')
})
