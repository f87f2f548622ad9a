/**
 * The API's benchmark's peers, `peers.ts NAME`: frameworks that respond with the same from memory, without authentication,
 * validation or durability, each as its own documentation shows it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { listening, type Records, records } from './records.ts'
import { type Body, type Hono, type Serve, untyped } from './untyped.ts'

const one = '/admin/v1/networks/:network/members/:id/'
const list = '/admin/v1/networks/:network/members'
const posts = '/admin/v1/networks/:network/posts'

/** As much of json-server as is used: it has no types. */
interface JsonServer {
  create(): { use(handler: unknown): void; listen(port: number, host: string, done: () => void): { address(): unknown } }
  rewriter(rules: Readonly<Record<string, string>>): unknown
  router(file: string): unknown
  readonly bodyParser: unknown
}

const pageOf = ({ page, shortPage }: Records, perPage: unknown) => (perPage === '100' ? page : shortPage)

const peers: Readonly<Record<string, (kept: Records) => Promise<void>>> = {
  async express(kept) {
    const { default: express } = await import('express')
    const app = express()
    app.use(express.json())
    app.get(one, (request, response) => void response.json(kept.byId(request.params.id)))
    app.get(list, (request, response) => void response.json(pageOf(kept, request.query['per_page'])))
    app.post(posts, (request, response) => void response.status(201).json(kept.add(request.body)))
    const server = app.listen(0, '127.0.0.1', () => listening((server.address() as { port: number }).port))
  },

  async fastify(kept) {
    const { default: Fastify } = await import('fastify')
    const app = Fastify()
    app.get<{ Params: { id: string } }>(one, async ({ params }) => kept.byId(params.id))
    app.get<{ Querystring: { per_page?: string } }>(list, async ({ query }) => pageOf(kept, query.per_page))
    app.post<{ Body: Body }>(posts, async (request, reply) => {
      reply.code(201)
      return kept.add(request.body)
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    listening((app.server.address() as { port: number }).port)
  },

  async hono(kept) {
    const { Hono } = await untyped<{ readonly Hono: new () => Hono }>('hono')
    const { serve } = await untyped<{ readonly serve: Serve }>('@hono/node-server')
    const app = new Hono()
    app.get(one, (context) => context.json(kept.byId(context.req.param('id'))))
    app.get(list, (context) => context.json(pageOf(kept, context.req.query('per_page'))))
    app.post(posts, async (context) => context.json(kept.add(await context.req.json()), 201))
    serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => listening(port))
  },

  /** A separate file: it writes the whole of it with each POST, in the background. */
  async 'json-server'(kept) {
    const { default: jsonServer } = await untyped<{ readonly default: JsonServer }>('json-server')
    const directory = mkdtempSync(join(tmpdir(), 'folkmoot-bench-json-server-'))
    process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
    const { items } = kept.page as { readonly items: readonly Body[] }
    const members = Array.from({ length: 1000 }, (_, place) => ({ ...items[place % 100], id: String(100_000 + place) }))
    const file = join(directory, 'db.json')
    writeFileSync(file, JSON.stringify({ members, posts: [] }))
    const app = jsonServer.create()
    app.use(
      jsonServer.rewriter({
        '/admin/v1/networks/1/members/:id/': '/members/:id',
        '/admin/v1/networks/1/members?per_page=:n': '/members?_page=1&_limit=:n',
        '/admin/v1/networks/1/posts': '/posts',
      }),
    )
    app.use(jsonServer.bodyParser)
    app.use(jsonServer.router(file))
    const server = app.listen(0, '127.0.0.1', () => listening((server.address() as { port: number }).port))
  },
}

const begin = peers[process.argv[2] ?? '']
if (!begin) throw new Error(`peers.ts: ${process.argv[2]} is not one of ${Object.keys(peers).join(', ')}`)
await begin(await records())
