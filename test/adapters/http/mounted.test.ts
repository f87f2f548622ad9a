/** Every adapter takes a community or what has a `fetch`, and refuses anything else when the host starts. */
import { once } from 'node:events'
import { request as httpRequest, type RequestListener } from 'node:http'
import { connect } from 'node:net'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { expect, test, vi } from 'vitest'
import { communityPlugin } from '../../../adapters/http/fastify.ts'
import { communityMiddleware as honoMiddleware, panelMiddleware as honoPanel } from '../../../adapters/http/hono.ts'
import { type KoaContext, communityMiddleware as koaMiddleware } from '../../../adapters/http/koa.ts'
import type { FetchHandler } from '../../../adapters/http/mounted.ts'
import { communityMiddleware, panelMiddleware, toNodeListener } from '../../../adapters/http/node.ts'
import { untyped } from '../../../bench/http/untyped.ts'
import { createTestCommunity } from '../../support/community.ts'
import { onLoopback } from '../../support/on-loopback.ts'

test.each([
  ['toNodeListener', toNodeListener],
  ['communityMiddleware', communityMiddleware],
  ['communityMiddleware', koaMiddleware],
  ['communityMiddleware', honoMiddleware],
  ['communityPlugin', communityPlugin],
])('%s refuses a Promise and anything else that is no community', async (name, mount) => {
  const { community } = await createTestCommunity()
  for (const given of [undefined, null, {}, Promise.resolve(community)])
    expect(() => mount(given as never)).toThrow(
      `${name}: the first argument must be a community, as createCommunity returns it, or have a \`fetch\`, as the tools of createMcp do. If it is a Promise, await it first`,
    )
  expect(mount(community)).toBeInstanceOf(Function)
})

test.each([panelMiddleware, honoPanel])('panelMiddleware refuses what is no panel', (mount: (panel: never) => unknown) => {
  for (const given of [undefined, Promise.resolve(() => undefined)])
    expect(() => mount(given as never)).toThrow('panelMiddleware: the first argument must be a panel')
})

type Middleware = (context: KoaContext, next: () => Promise<unknown>) => unknown
type Koa = new () => {
  use(middleware: Middleware): unknown
  callback(): RequestListener
  on(event: 'error', handle: () => void): void
}
type Mount = (path: string, middleware: Middleware) => Middleware

/** Each host with a handler at `/tools`, and an application at every other path. */
const hosts: Readonly<Record<string, (handler: FetchHandler) => Promise<string>>> = {
  async 'node:http'(handler) {
    const tools = toNodeListener(handler)
    return onLoopback((request, response) => {
      if (request.url?.startsWith('/tools')) tools(request, response)
      else response.end('the application')
    })
  },
  async Express(handler) {
    const app = express()
    app.use('/tools', communityMiddleware(handler))
    app.use((_request, response) => void response.send('the application'))
    app.use(((_error, _request, response, _next) => void response.status(500).send('a fault')) as express.ErrorRequestHandler)
    return onLoopback(app)
  },
  async 'Express behind a parser'(handler) {
    const app = express()
    app.use(express.json({ limit: '20mb' }), express.text())
    app.use('/tools', communityMiddleware(handler))
    app.use((_request, response) => void response.send('the application'))
    app.use(((_error, _request, response, _next) => void response.status(500).send('a fault')) as express.ErrorRequestHandler)
    return onLoopback(app)
  },
  async Fastify(handler) {
    const app = Fastify()
    app.addHook('onRequest', async (_request, reply) => void reply.header('x-host', 'yes'))
    await app.register(communityPlugin(handler), { prefix: '/tools' })
    app.setNotFoundHandler((_request, reply) => void reply.send('the application'))
    app.setErrorHandler((_error, _request, reply) => void reply.code(500).send('a fault'))
    await app.ready()
    return onLoopback((request, response) => app.routing(request, response))
  },
  async Koa(handler) {
    const { default: Application } = await untyped<{ default: Koa }>('koa')
    const { default: mount } = await untyped<{ default: Mount }>('koa-mount')
    const app = new Application()
    app.on('error', () => {})
    app.use(mount('/tools', koaMiddleware(handler)))
    app.use((context) => void Object.assign(context, { body: 'the application' }))
    return onLoopback(app.callback())
  },
  async Hono(handler) {
    const app = new Hono()
    app.use(async (c, next) => {
      c.header('x-host', 'yes')
      await next()
    })
    app.use('/tools', honoMiddleware(handler))
    app.use('/tools/*', honoMiddleware(handler))
    app.notFound((c) => c.text('the application'))
    app.onError((_error, c) => c.text('a fault', 500))
    const { getRequestListener } = await untyped<{ getRequestListener(fetch: unknown): RequestListener }>('@hono/node-server')
    return onLoopback(getRequestListener(app.fetch))
  },
}

const echo: FetchHandler = {
  async fetch(request) {
    const headers = new Headers({ 'content-type': request.headers.get('content-type') ?? 'text/plain' })
    headers.append('set-cookie', 'a=1')
    headers.append('set-cookie', 'b=2')
    return new Response(`${request.method} ${new URL(request.url).pathname} ${await request.text()}`, { status: 201, headers })
  },
}

test.each(Object.entries(hosts))('in %s a handler serves what reaches its path, and nothing else', async (_, mount) => {
  const origin = await mount(echo)
  const posted = await fetch(`${origin}/tools/x`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":"é"}' },
  })
  expect([posted.status, await posted.text(), posted.headers.getSetCookie()]).toEqual([
    201,
    'POST /tools/x {"a":"é"}',
    ['a=1', 'b=2'],
  ])
  expect(await (await fetch(`${origin}/tools`)).text()).toBe('GET /tools ')
  expect(await (await fetch(`${origin}/elsewhere`)).text()).toBe('the application')
  expect((await fetch(`${origin}/tools`, { method: 'HEAD' })).status).toBe(201)
})

test.each(Object.entries(hosts))('in %s the fault of a handler is a 500 of the host', async (_, mount) => {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
  const throwing = await mount({ fetch: async () => Promise.reject(new Error('broken')) })
  expect((await fetch(`${throwing}/tools`)).status).toBe(500)
  const silent = await mount({ fetch: (async () => undefined) as never })
  expect((await fetch(`${silent}/tools`)).status).toBe(500)
  logged.mockRestore()
})

test.each(Object.entries(hosts))(
  'in %s a handler may send events as they happen, and respond without a body',
  async (_, mount) => {
    let send = (_text: string): void => {}
    const origin = await mount({
      fetch({ url }) {
        if (url.endsWith('/empty')) return new Response(null, { status: 204 })
        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            send = (text) => controller.enqueue(new TextEncoder().encode(text))
          },
        })
        return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
      },
    })
    const abort = new AbortController()
    const { body } = await fetch(`${origin}/tools`, { signal: abort.signal })
    const reader = body?.getReader()
    for (const text of ['data: 1', 'data: 2']) {
      send(text)
      expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(text)
    }
    abort.abort()
    const empty = await fetch(`${origin}/tools/empty`)
    expect([empty.status, empty.headers.get('content-length')]).toEqual([204, null])
  },
)

// Hono reads the body as its server gives it.
const onNode = Object.entries(hosts).filter(([name]) => name !== 'Hono' && name !== 'Express behind a parser')

test.each(onNode)('in %s a body has at most 16 MiB, and one that breaks off reaches no one', async (_, mount) => {
  const origin = await mount(echo)
  const send = (bytes: number) => fetch(`${origin}/tools`, { method: 'POST', body: new Uint8Array(bytes) })
  expect((await send(16 * 1024 * 1024)).status).toBe(201)
  expect((await send(16 * 1024 * 1024 + 1)).status).toBe(413)
  const broken = httpRequest(`${origin}/tools`, { method: 'POST', headers: { 'content-length': '100' } })
  broken.on('error', () => {})
  broken.write('half')
  await once(broken, 'socket')
  broken.destroy()
  expect((await fetch(`${origin}/tools`)).status).toBe(201)
})

test.each(onNode)('in %s an address that is no URL of its own is a 400', async (_, mount) => {
  const origin = await mount(echo)
  const socket = connect(Number(new URL(origin).port), '127.0.0.1')
  socket.write('GET /tools/../tools HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  const parts: Buffer[] = []
  for await (const part of socket) parts.push(part as Buffer)
  expect(Buffer.concat(parts).toString()).toMatch(/^HTTP\/1.1 400 /)
})

test('headers that the host has set leave with the response of a handler', async () => {
  for (const name of ['Fastify', 'Hono']) {
    const origin = await hosts[name]?.(echo)
    expect((await fetch(`${origin}/tools`)).headers.get('x-host')).toBe('yes')
  }
})

test.each([{}, { prefix: '' }, { prefix: 'tools' }, { prefix: '/' }])(
  'in Fastify a handler needs a path: %j',
  async (options) => {
    const app = Fastify()
    app.register(communityPlugin(echo), options)
    await expect(app.ready()).rejects.toThrow("with the path as its prefix: app.register(…, { prefix: '/mcp' })")
  },
)
