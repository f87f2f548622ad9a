/**
 * One host, `host.ts NAME`, with one route beside the API over memory, each mounted as `docs/hosts.md` shows it. The route
 * responds with the same member that the API shows.
 */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { communityPlugin } from '../../adapters/http/fastify.ts'
import { communityMiddleware as honoMiddleware } from '../../adapters/http/hono.ts'
import { type KoaContext, communityMiddleware as koaMiddleware } from '../../adapters/http/koa.ts'
import { communityMiddleware, toNodeListener } from '../../adapters/http/node.ts'
import { rateLimits } from '../../adapters/rate-limits/index.ts'
import { openStorage } from '../../daemon/server/storage/open.ts'
import { createCommunity } from '../../lib/index.ts'
import { listening } from './records.ts'
import { firstMember, seed } from './seeded.ts'
import { type Hono, type Serve, untyped } from './untyped.ts'

const [name = 'node', outbox = ''] = process.argv.slice(2)
const { storage } = await openStorage('memory:', outbox, () => {})
const community = createCommunity({ storage, allowHttp: true, rateLimiter: rateLimits() })
await seed(community, storage, 1000, () => {})
const { token } = await community.keys.create({ network: '1', name: 'bench', scopes: ['*'] })
const member = await community.call('members.show', { network: '1', params: { id: String(firstMember) } })

const own = '/own/:id'
const say = (port: number): void => listening(port, token)
const listen = (listener: RequestListener): void => {
  const server = createServer(listener).listen(0, '127.0.0.1', () => say((server.address() as AddressInfo).port))
}

interface Koa {
  use(handle: (context: KoaContext & { body: unknown }, next: () => Promise<unknown>) => Promise<void>): void
  callback(): RequestListener
}

const hosts: Readonly<Record<string, () => Promise<void>>> = {
  async node() {
    const api = toNodeListener(community)
    listen((request, response) => {
      if (!request.url?.startsWith('/own/')) return api(request, response)
      const body = JSON.stringify(member)
      const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(body) }
      response.writeHead(200, headers).end(body)
    })
  },
  async express() {
    const { default: express } = await import('express')
    const app = express()
    app.use(communityMiddleware(community))
    app.get(own, (_, response) => void response.json(member))
    listen(app)
  },
  async fastify() {
    const { default: Fastify } = await import('fastify')
    const app = Fastify()
    await app.register(communityPlugin(community))
    app.get(own, async () => member)
    await app.listen({ port: 0, host: '127.0.0.1' })
    say((app.server.address() as AddressInfo).port)
  },
  async koa() {
    const { default: Koa } = await untyped<{ readonly default: new () => Koa }>('koa')
    const app = new Koa()
    app.use(koaMiddleware(community))
    app.use(async (context) => {
      context.body = member
    })
    listen(app.callback())
  },
  async hono() {
    const { Hono } = await untyped<{ readonly Hono: new () => Hono & { use(handle: ReturnType<typeof honoMiddleware>): void } }>(
      'hono',
    )
    const { serve } = await untyped<{ readonly serve: Serve }>('@hono/node-server')
    const app = new Hono()
    app.use(honoMiddleware(community))
    app.get(own, (context) => context.json(member))
    serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => say(port))
  },
}

const begin = hosts[name]
if (!begin) throw new Error(`host.ts: ${name} is not one of ${Object.keys(hosts).join(', ')}`)
await begin()
