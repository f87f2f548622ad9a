/** The responses of the API under Hono, on its server for Node and without a server. */
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { connect } from 'node:net'
import { inspect } from 'node:util'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { communityMiddleware } from '../../../adapters/http/hono.ts'
import { untyped } from '../../../bench/http/untyped.ts'
import { createTestCommunity } from '../../support/community.ts'
import { onLoopback } from '../../support/on-loopback.ts'

const { getRequestListener } = await untyped<{ getRequestListener(fetch: unknown): RequestListener }>('@hono/node-server')

type SendRequest = (path: string, init?: { readonly method?: string; readonly body?: string }) => Promise<Response>

/** An application with middleware before the API, and two ways to ask it. */
async function application(before: (app: Hono) => void = () => {}) {
  const { community, token } = await createTestCommunity({ allowHttp: true })
  const app = new Hono()
  before(app)
  app.use(communityMiddleware(community))
  const origin = await onLoopback(getRequestListener(app.fetch))
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const at = (path: string): string => `/admin/v1/networks/1${path}`
  const onNode: SendRequest = (path, init) => fetch(origin + at(path), { ...init, headers })
  const alone: SendRequest = async (path, init) => app.request(at(path), { ...init, headers })
  return [onNode, alone] as const
}

test('a response has the headers that earlier middleware has set, and every cookie', async () => {
  for (const cookies of [[], ['a=1; Path=/', 'b=2; Path=/']])
    for (const ask of await application((app) => {
      app.use(async (context, next) => {
        context.header('x-request-id', 'ours-1')
        for (const cookie of cookies) context.header('set-cookie', cookie, { append: true })
        await next()
      })
    })) {
      const response = await ask('/tags')
      expect(response.status).toBe(200)
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'x-request-id': 'ours-1',
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
      })
      expect(response.headers.getSetCookie()).toEqual(cookies)
    }
})

test('middleware around the API reads its status, and sets headers afterwards', async () => {
  const statuses: number[] = []
  for (const ask of await application((app) => {
    app.use(async (context, next) => {
      context.status(418)
      await next()
      statuses.push(context.res.status)
      context.header('x-later', 'yes')
    })
  })) {
    const response = await ask('/nowhere')
    expect([response.status, response.headers.get('x-later')]).toEqual([404, 'yes'])
    expect(await response.json()).toMatchObject({ error: expect.stringContaining('There is no path') })
  }
  expect(statuses).toEqual([404, 404])
})

test('short and long responses have the length of their bytes, and those to HEAD have no body', async () => {
  let made = 100
  for (const title of ['Café 🌱', 'ü'.repeat(250)])
    for (const ask of await application()) {
      for (let count = 0; count < 20; count++) {
        const created = await ask('/tags', { method: 'POST', body: JSON.stringify({ title: `${title}${made++}` }) })
        expect(created.status).toBe(201)
        expect(Number(created.headers.get('content-length'))).toBe((await created.arrayBuffer()).byteLength)
      }
      const list = await ask('/tags')
      const length = (await list.arrayBuffer()).byteLength
      expect(Number(list.headers.get('content-length'))).toBe(length)
      const head = await ask('/tags', { method: 'HEAD' })
      expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, String(length), ''])
    }
})

test('many concurrent requests all get a response', async () => {
  for (const ask of await application()) {
    const responses = await Promise.all(Array.from({ length: 40 }, () => ask('/me')))
    const names = await Promise.all(
      responses.map(async (response) => ((await response.json()) as { readonly name: string }).name),
    )
    expect(new Set(names).size).toBe(1)
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200))
  }
})

test('a short body is read straight from the request of Node, unless middleware has put another in its place', async () => {
  const seen: string[] = []
  const responses = []
  for (const isReplaced of [false, true]) {
    const [onNode] = await application((app) => {
      app.use(async ({ req }, next) => {
        const asked = req.raw
        // As a middleware does that unpacks bodies, and leaves the announced length.
        if (isReplaced) req.raw = new Request(asked, { body: new Uint8Array(40 * 1024 * 1024).fill(0x20) })
        await next()
        seen.push(inspect(asked, { depth: 1 }))
      })
    })
    responses.push(await onNode('/tags', { method: 'POST', body: '{"title":"short"}' }))
  }
  expect(responses.map(({ status }) => status)).toEqual([201, 413])
  expect(seen[0]).toContain('nativeRequest: undefined')
})

const pass = (milliseconds: number) => new Promise<void>((done) => void setTimeout(done, milliseconds))

test.each([
  [404, '/nowhere', 10],
  [413, '/tags', 3_000_000],
])('on Node the connection of a %i lives on, though the rest of the body comes late', async (status, path, length) => {
  const { community, token } = await createTestCommunity({ allowHttp: true })
  const app = new Hono()
  app.use(communityMiddleware(community))
  const { port } = new URL(await onLoopback(getRequestListener(app.fetch)))
  const socket = connect(Number(port), '127.0.0.1')
  const responses: string[] = []
  socket.on('data', (data) => void responses.push(...(data.toString().match(/HTTP\/1\.1 \d+/g) ?? [])))
  const send = (method: string, at: string, headers: string, body = ''): void =>
    void socket.write(
      `${method} /admin/v1/networks/1${at} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${headers}\r\n${body}`,
    )
  send('GET', '/tags', '')
  await once(socket, 'data')
  send('POST', path, `Content-Type: application/json\r\nContent-Length: ${length}\r\n`)
  // After half a second the server for Node cuts a connection whose request is unfinished, if it has been answered.
  await Promise.race([once(socket, 'data').then(() => pass(700)), pass(1000)])
  socket.write('x'.repeat(length))
  send('GET', '/tags', 'Connection: close\r\n')
  await once(socket, 'close')
  expect(responses).toEqual(['HTTP/1.1 200', `HTTP/1.1 ${status}`, 'HTTP/1.1 200'])
})
