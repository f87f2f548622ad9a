/** How the middleware fits into applications of the frameworks. Types fail in `npm run check:types`, before the tests run. */
import type { RequestListener } from 'node:http'
import express, { type Request as ExpressRequest } from 'express'
import Fastify, { type FastifyRequest } from 'fastify'
import { type Context, Hono } from 'hono'
import { expect, test } from 'vitest'
import { communityPlugin, panelPlugin } from '../../../adapters/http/fastify.ts'
import { communityMiddleware as honoMiddleware, panelMiddleware as honoPanel } from '../../../adapters/http/hono.ts'
import { type KoaContext, panelMiddleware as koaPanel } from '../../../adapters/http/koa.ts'
import { communityMiddleware, panelMiddleware } from '../../../adapters/http/node.ts'
import { untyped } from '../../../bench/http/untyped.ts'
import { createPanel } from '../../../lib/panel/index.ts'
import { createTestCommunity } from '../../support/community.ts'
import { onLoopback } from '../../support/on-loopback.ts'

const me = '/admin/v1/networks/1/me'

test('the variables of a Hono application may be typed', async () => {
  const { community, token } = await createTestCommunity()
  const app = new Hono<{ Variables: { user: string } }>()
  app.use(honoMiddleware(community))
  const response = await app.request(`https://api.test${me}`, { headers: { authorization: `Bearer ${token}` } })
  expect(response.status).toBe(200)
})

test('the middleware fits typed applications of Express and Fastify', async () => {
  const { community } = await createTestCommunity()
  const panel = createPanel(community, { authorize: () => null })
  const apps = [
    express().use(communityMiddleware(community, { requestId: (request) => request.headers['x-request-id'] })),
    express().use(panelMiddleware(panel)),
    Fastify().addHook('onRequest', (request, reply, done) => panelMiddleware(panel)(request.raw, reply.raw, done)),
  ]
  expect(apps).toHaveLength(3)
})

test('Fastify is told to register the API on the application, where its paths are found', async () => {
  const { community } = await createTestCommunity({ basePath: '/community' })
  const scoped = Fastify()
  scoped.register(async (scope) => scope.register(communityPlugin(community)), { prefix: '/community' })
  await expect(scoped.ready()).rejects.toThrow(
    "communityPlugin: register it on the application itself, and set `basePath: '/community'` of createCommunity.",
  )
  const elsewhere = Fastify()
  elsewhere.register(communityPlugin(community), { prefix: '/api' })
  await expect(elsewhere.ready()).rejects.toThrow(
    "communityPlugin: option `prefix` is not used: set `basePath: '/api'` of createCommunity instead",
  )
  const same = Fastify()
  same.register(communityPlugin(community), { prefix: '/community' })
  await same.ready()
})

interface Session {
  readonly user?: string
}

type Koa = new () => {
  use(middleware: (context: KoaContext & Session, next: () => Promise<unknown>) => unknown): unknown
  callback(): RequestListener
}

/** The same panel in each framework, whose session is set by middleware before it. */
const panelHosts = {
  async Express(community: Parameters<typeof createPanel>[0]) {
    const panel = createPanel(community, { authorize: (_, { user }: ExpressRequest & Session) => visitor(user) })
    const app = express()
    app.use((request, _response, next) => {
      Object.assign(request, { user: request.get('x-user') })
      next()
    })
    app.use(panelMiddleware(panel))
    app.use((_request, response) => void response.status(404).send('the application'))
    return onLoopback(app)
  },
  async Fastify(community: Parameters<typeof createPanel>[0]) {
    const panel = createPanel(community, { authorize: (_, { user }: FastifyRequest & Session) => visitor(user) })
    const app = Fastify()
    app.addHook('onRequest', async (request, reply) => {
      Object.assign(request, { user: request.headers['x-user'] })
      reply.header('x-host', 'Fastify')
    })
    await app.register(panelPlugin(panel))
    app.setNotFoundHandler((_request, reply) => reply.code(404).send('the application'))
    await app.ready()
    return onLoopback((request, response) => app.routing(request, response))
  },
  async Koa(community: Parameters<typeof createPanel>[0]) {
    const panel = createPanel(community, { authorize: (_, { user }: KoaContext & Session) => visitor(user) })
    const { default: Application } = await untyped<{ default: Koa }>('koa')
    const app = new Application()
    app.use((context, next) => {
      Object.assign(context, { user: context.req.headers['x-user'] })
      return next()
    })
    app.use(koaPanel(panel))
    app.use((context) => void Object.assign(context, { body: 'the application', status: 404 }))
    return onLoopback(app.callback())
  },
  async Hono(community: Parameters<typeof createPanel>[0]) {
    type Environment = { Variables: { user: string | undefined } }
    const panel = createPanel(community, { authorize: (_, c: Context<Environment>) => visitor(c.get('user')) })
    const app = new Hono<Environment>()
    app.use(async (c, next) => {
      c.set('user', c.req.header('x-user'))
      // Something before the panel has read the form.
      if (c.req.method === 'POST') await c.req.text()
      c.header('x-host', 'Hono')
      await next()
    })
    app.use(honoPanel(panel))
    app.notFound((c) => c.text('the application', 404))
    type Server = { getRequestListener(fetch: unknown): RequestListener }
    const { getRequestListener } = await untyped<Server>('@hono/node-server')
    return onLoopback(getRequestListener(app.fetch))
  },
}

const visitor = (user: string | undefined) =>
  user === 'ada' ? ({ actor: 'ada', networks: 'all', access: 'all' } as const) : null

test.each(Object.entries(panelHosts))('in %s the panel asks the session of the framework', async (_, mount) => {
  const { community } = await createTestCommunity({ allowHttp: true })
  const origin = await mount(community)
  const statusFor = async (path: string, init: RequestInit = {}) => (await fetch(origin + path, init)).status
  const headers = { 'x-user': 'ada', 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
  expect({
    known: await statusFor('/admin/panel/1/keys', { headers }),
    stranger: await statusFor('/admin/panel/1/keys', { headers: { 'x-user': 'eve' } }),
    form: await statusFor('/admin/panel/1/keys', { method: 'POST', headers, body: 'name=Mine&access=*' }),
    elsewhere: await (await fetch(`${origin}/about`)).text(),
  }).toEqual({ known: 200, stranger: 403, form: 201, elsewhere: 'the application' })
  expect((await community.keys.list('1')).map(({ name }) => name)).toContain('Mine')
})

test('in Hono the panel gets the context that it is called with', async () => {
  const { community } = await createTestCommunity()
  type Environment = { Variables: { user: string } }
  const panel = createPanel(community, {
    authorize: (_, context: Context<Environment>) => visitor(context.get('user')),
    onError: () => {},
  })
  const app = new Hono<Environment>()
  app.use(async (context, next) => {
    context.set('user', context.req.header('x-user') ?? '')
    await next()
  })
  app.use(async (context, next) => (await panel(context.req.raw, context)) ?? next())
  const statusFor = async (user: string) =>
    (await app.request('https://api.test/admin/panel/1/keys', { headers: { 'x-user': user } })).status
  expect([await statusFor('ada'), await statusFor('eve')]).toEqual([200, 403])
  // @ts-expect-error: this panel needs the context
  expect((await panel(new Request('https://api.test/admin/panel/1/keys')))?.status).toBe(500)
})
