/** Hosts that read or parse a body before the community gets the request. */
import { request as httpRequest, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import express, { type RequestHandler } from 'express'
import { expect, test } from 'vitest'
import { communityMiddleware as honoMiddleware } from '../../../adapters/http/hono.ts'
import { communityMiddleware as koaMiddleware } from '../../../adapters/http/koa.ts'
import { communityMiddleware, toNodeListener } from '../../../adapters/http/node.ts'
import { untyped } from '../../../bench/http/untyped.ts'
import { createTestCommunity, type TestCommunity } from '../../support/community.ts'
import type { Json } from '../../support/json.ts'
import { onLoopback } from '../../support/on-loopback.ts'

type KoaMiddleware = ReturnType<typeof koaMiddleware>
const { default: Koa } = await untyped<{ default: new () => { use(it: KoaMiddleware): void; callback(): RequestListener } }>(
  'koa',
)
const { bodyParser } = await untyped<{ bodyParser(options: object): KoaMiddleware }>('@koa/bodyparser')
const { default: mount } = await untyped<{ default(path: string, it: KoaMiddleware): KoaMiddleware }>('koa-mount')

type HonoMiddleware = ReturnType<typeof honoMiddleware>
type Reader = 'json' | 'text' | 'arrayBuffer'
const { Hono } = await untyped<{ Hono: new () => { use(it: HonoMiddleware): void; readonly fetch: unknown } }>('hono')
const { getRequestListener } = await untyped<{ getRequestListener(fetch: unknown): RequestListener }>('@hono/node-server')

/** Reads the whole body, as parsers do. */
async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const hasBody = (method: string | undefined): boolean => method === 'POST' || method === 'PATCH'

/** A small host that reads each body and keeps it in its own way. */
const keeping =
  (keep: (request: IncomingMessage, body: Buffer) => void) =>
  ({ community }: TestCommunity): RequestListener => {
    const listener = toNodeListener(community)
    return async (request: IncomingMessage, response: ServerResponse) => {
      if (hasBody(request.method)) keep(request, await bytesOf(request))
      listener(request, response)
    }
  }

const withParser =
  (...parsers: readonly RequestHandler[]) =>
  ({ community }: TestCommunity): RequestListener => {
    const app = express()
    for (const parser of parsers) app.use(parser)
    app.use(communityMiddleware(community))
    return app
  }

const withKoa =
  (...middleware: readonly KoaMiddleware[]) =>
  ({ community }: TestCommunity): RequestListener => {
    const app = new Koa()
    for (const it of [...middleware, koaMiddleware(community)]) app.use(it)
    return app.callback()
  }

/** A Hono whose own middleware reads each body. */
const withHono =
  (reader: Reader) =>
  ({ community }: TestCommunity): RequestListener => {
    const app = new Hono()
    app.use(async ({ req }, next) => {
      const { method } = req.raw
      // A body that is no JSON is a matter of the API.
      if (hasBody(method)) await (req as unknown as Record<Reader, () => Promise<unknown>>)[reader]().catch(() => {})
      await next()
      return undefined
    })
    app.use(honoMiddleware(community))
    return getRequestListener(app.fetch)
  }

const unread = ({ community }: TestCommunity): RequestListener => toNodeListener(community)

/** Hosts that keep the body, so that every response is what it would have been. */
const hosts: readonly (readonly [string, (it: TestCommunity) => RequestListener])[] = [
  ['express.json', withParser(express.json({ limit: '4mb' }))],
  ['express.json and express.urlencoded', withParser(express.urlencoded(), express.json({ limit: '4mb' }))],
  ['express.raw', withParser(express.raw({ type: '*/*', limit: '4mb' }))],
  ['express.text', withParser(express.text({ type: '*/*', limit: '4mb' }))],
  ['request.rawBody as a Buffer', keeping((request, body) => Object.assign(request, { rawBody: body }))],
  ['request.rawBody as a text', keeping((request, body) => Object.assign(request, { rawBody: body.toString(), body: {} }))],
  ['request.body as a Uint8Array', keeping((request, body) => Object.assign(request, { body: new Uint8Array(body) }))],
  ['@koa/bodyparser', withKoa(bodyParser({ jsonLimit: '4mb' }))],
  ['@koa/bodyparser for texts', withKoa(bodyParser({ enableTypes: ['text'], extendTypes: { text: ['*/*'] }, textLimit: '4mb' }))],
  ['Hono after its `json`', withHono('json')],
  ['Hono after its `text`', withHono('text')],
  ['Hono after its `arrayBuffer`', withHono('arrayBuffer')],
  [
    'an old parser, which puts {} where it does not look',
    withParser((request, _response, next) => {
      Object.assign(request, { body: {} })
      next()
    }),
  ],
]

const tags = '/admin/v1/networks/1/tags'
const json = { 'content-type': 'application/json' }

interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly headers?: Record<string, string>
  readonly chunked?: boolean
}

/** Cases to which every host responds alike. `TAG` stands for the id of a tag that is there. */
const requests: readonly (readonly [string, Sent, number])[] = [
  ['a record', { method: 'POST', path: tags, body: '{"title":"Größe ✓"}' }, 201],
  ['a record in chunks', { method: 'POST', path: tags, body: '{"title":"chunks"}', chunked: true }, 201],
  ['a change', { method: 'PATCH', path: `${tags}/TAG`, body: '{"title":"changed"}' }, 200],
  ['an empty object', { method: 'POST', path: tags, body: '{}' }, 422],
  ['no body', { method: 'POST', path: tags }, 422],
  ['a list', { method: 'POST', path: tags, body: '[1]' }, 422],
  [
    'another type',
    { method: 'POST', path: tags, body: 'title=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    415,
  ],
  ['too large', { method: 'POST', path: tags, body: JSON.stringify({ title: 'x'.repeat(2 ** 21) }) }, 413],
  [
    'too large, in chunks',
    { method: 'POST', path: tags, body: JSON.stringify({ title: 'x'.repeat(2 ** 21) }), chunked: true },
    413,
  ],
  ['a list of records', { method: 'GET', path: tags }, 200],
  ['the headers of a list', { method: 'HEAD', path: tags }, 200],
  ['a removal', { method: 'DELETE', path: `${tags}/TAG` }, 204],
]

/** Sends the requests one after the other. */
async function responsesOf(it: TestCommunity, url: string) {
  const { id } = await it.community.call('tags.create', { network: 'demo', body: { title: 'first' } })
  const responses: Record<string, { status: number; body: Json }> = {}
  for (const [name, { method, path, body, headers, chunked }] of requests) {
    const response = await fetch(url + path.replace('TAG', id), {
      method,
      headers: { authorization: `Bearer ${it.token}`, ...(body === undefined ? {} : json), ...headers },
      ...(body === undefined ? {} : chunked ? { body: new Blob([body]).stream(), duplex: 'half' } : { body }),
    } as RequestInit)
    const text = await response.text()
    responses[name] = { status: response.status, body: text === '' ? undefined : withoutIds(JSON.parse(text)) }
  }
  return responses
}

const withoutIds = (body: Json): Json =>
  JSON.parse(JSON.stringify(body, (name, value) => (/^(?:id|custom_field_id|links)$/.test(name) ? undefined : value)))

const hosted = async (host: (it: TestCommunity) => RequestListener) => {
  const it = await createTestCommunity({ allowHttp: true })
  return { ...it, url: await onLoopback(host(it)) }
}

for (const [name, host] of hosts)
  test(`${name}: every answer is what it is without`, async () => {
    const plain = await hosted(unread)
    const responses = await responsesOf(plain, plain.url)
    expect(Object.entries(responses).map(([sent, { status }]) => [sent, status])).toEqual(
      requests.map(([sent, , status]) => [sent, status]),
    )
    const it = await hosted(host)
    expect(await responsesOf(it, it.url)).toEqual(responses)
    expect(it.faults).toEqual([])
  })

/** Such a host refuses broken JSON by itself. */
const parsesJson = (name: string): boolean => name.includes('express.json') || name === '@koa/bodyparser'

test('a body that is no JSON is a 400 also where the host hands over its bytes', async () => {
  for (const [, host] of hosts.filter(([name]) => !parsesJson(name))) {
    const it = await hosted(host)
    const response = await fetch(it.url + tags, {
      method: 'POST',
      headers: { ...json, authorization: `Bearer ${it.token}` },
      body: '{"title":',
    })
    expect([response.status, await response.json()]).toEqual([400, { error: 'The body is not valid JSON' }])
  }
})

test('an upload is a file when the host hands over its bytes', async () => {
  const it = await hosted(withParser(express.raw({ type: '*/*', limit: '4mb' })))
  const form = new FormData()
  form.set('asset_style', 'post')
  form.set('asset_file', new Blob(['bytes']), 'wash.txt')
  const headers = { authorization: `Bearer ${it.token}` }
  const response = await fetch(`${it.url}/admin/v1/networks/1/assets`, { method: 'POST', headers, body: form })
  expect([response.status, await response.json()]).toMatchObject([201, { name: 'wash.txt' }])
})

test('an upload of which a parser kept only the fields is a fault of the host, with the remedy', async () => {
  const it = await hosted(keeping((request) => Object.assign(request, { body: { asset_style: 'post' } })))
  const form = new FormData()
  form.set('asset_style', 'post')
  const headers = { authorization: `Bearer ${it.token}` }
  const response = await fetch(`${it.url}/admin/v1/networks/1/assets`, { method: 'POST', headers, body: form })
  expect(response.status).toBe(500)
  expect(String(it.faults[0])).toContain('Mount the community before the body parser')
})

test('a body that the host has read and not kept is a loud fault, never an empty body', async () => {
  const it = await hosted(keeping(() => {}))
  const { id } = await it.community.call('tags.create', { network: 'demo', body: { title: 'first' } })
  for (const chunked of [false, true]) {
    const body = '{"title":"second"}'
    const response = await fetch(`${it.url}${tags}/${id}`, {
      method: 'PATCH',
      headers: { ...json, authorization: `Bearer ${it.token}` },
      ...(chunked ? { body: new Blob([body]).stream(), duplex: 'half' } : { body }),
    } as RequestInit)
    expect([response.status, await response.json()]).toEqual([
      500,
      { error: 'Internal server error', request_id: expect.any(String) },
    ])
  }
  expect(it.faults.map(String)).toEqual(Array(2).fill(expect.stringContaining('Mount the community before the body parser')))
  expect(await it.community.call('tags.show', { network: 'demo', params: { id } })).toMatchObject({ title: 'first' })
})

test('without a body there is nothing that a host could have read away', async () => {
  const it = await hosted(keeping(() => {}))
  const headers = { authorization: `Bearer ${it.token}` }
  const response = await fetch(it.url + tags, { method: 'POST', headers })
  expect([response.status, await response.json()]).toEqual([422, { error: 'title is required' }])
})

test('Koa mounts it below a path, though `koa-mount` cuts that path off', async () => {
  const it = await createTestCommunity({ allowHttp: true, basePath: '/community' })
  const app = new Koa()
  app.use(mount('/community', koaMiddleware(it.community)))
  const headers = { authorization: `Bearer ${it.token}` }
  const path = `/community${tags}`
  await it.community.call('tags.create', { network: 'demo', body: { title: 'Oil' } })
  await it.community.call('tags.create', { network: 'demo', body: { title: 'Ink' } })
  const response = await fetch(`${await onLoopback(app.callback())}${path}?per_page=1`, { headers })
  expect([response.status, await response.json()]).toMatchObject([200, { links: { next: expect.stringContaining(`${path}?`) } }])
})

test('one Idempotency-Key works with and without a parser', async () => {
  const it = await createTestCommunity({ allowHttp: true })
  const headers = { ...json, authorization: `Bearer ${it.token}`, 'idempotency-key': 'once' }
  const responses = []
  for (const [, host] of hosts)
    responses.push(
      await fetch((await onLoopback(host(it))) + tags, {
        method: 'POST',
        headers,
        body: '{ "title": "Oil", "color": "#FF5733" }',
      }),
    )
  expect(responses.map(({ status }) => status)).toEqual(hosts.map(() => 201))
  expect(responses.map((response) => response.headers.get('idempotency-replayed'))).toEqual(
    hosts.map((_, place) => (place === 0 ? null : 'true')),
  )
})

test('`fetch` with a request whose body was read is a loud fault with the remedy', async () => {
  const { community, token, faults } = await createTestCommunity()
  const made = () =>
    new Request(`https://api.test${tags}`, {
      method: 'POST',
      headers: { ...json, authorization: `Bearer ${token}` },
      body: '{"title":"x"}',
    })
  const used = made()
  await used.text()
  const locked = made()
  locked.body?.getReader()
  for (const request of [used, locked]) expect((await community.fetch(request)).status).toBe(500)
  expect(faults.map(String)).toEqual(Array(2).fill(expect.stringContaining('pass a request whose body is unread')))
})

test('a client that left before its body was requested gets a response, and nothing waits', async () => {
  const it = await createTestCommunity({ allowHttp: true })
  const asked = Promise.withResolvers<void>()
  const gone = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<number>()
  const listener = toNodeListener({
    serve: async (incoming) => {
      asked.resolve()
      await gone.promise
      const response = await it.community.serve(incoming)
      answered.resolve(response.status)
      return response
    },
  })
  const url = new URL(
    await onLoopback((request, response) => {
      request.on('close', () => gone.resolve())
      listener(request, response)
    }),
  )
  const socket = connect(Number(url.port), url.hostname)
  socket.write(`POST ${tags} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${it.token}\r\nContent-Length: 100\r\n\r\n{"title":`)
  await asked.promise
  socket.destroy()
  expect(await answered.promise).toBe(400)
  expect(it.faults).toEqual([])
})

test('a response that fails to come about ends the connection, and only that', async () => {
  const listener = toNodeListener({ serve: () => Promise.reject(new Error('not started')) })
  const url = await onLoopback(listener)
  const ended = () =>
    new Promise<string>((resolve) =>
      httpRequest(url + tags, () => resolve('answered'))
        .on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''))
        .end(),
    )
  expect([await ended(), await ended()]).toEqual(['ECONNRESET', 'ECONNRESET'])
})
