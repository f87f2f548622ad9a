/** `app.js` of a new project: the API in its host, the relay, and the receiver of the webhooks. */
import type { ProjectHost } from './choices.ts'

interface HostParts {
  /** Packages in addition to folkmoot. */
  readonly packages: Readonly<Record<string, string>>
  readonly imports: { readonly before: string; readonly after: string }
  /** Mounts the community and the receiver, and listens: it leaves `address` and `close` behind. */
  readonly serve: string
}

export const hostParts: Readonly<Record<ProjectHost, HostParts>> = {
  node: {
    packages: {},
    imports: {
      before: `import { once } from 'node:events'\nimport { createServer } from 'node:http'\n`,
      after: `import { communityMiddleware } from 'folkmoot/node'\n`,
    },
    serve: `  const api = communityMiddleware(community)
  const server = createServer((request, response) => {
    api(request, response, async () => {
      if (request.url === '/') return response.writeHead(200, { 'content-type': 'text/plain' }).end(home)
      if (request.url !== '/webhooks') return response.writeHead(404).end('Not found')
      const result = await receive(request).catch((error) => {
        console.error(error)
        return new Response(null, { status: 500 })
      })
      response.writeHead(result.status).end(await result.text())
    })
  })
  await once(server.listen(port, host), 'listening')
  const { port: taken } = server.address()
  const close = () => new Promise((closed) => server.close(closed))
`,
  },
  express: {
    packages: { express: '^5.3.0' },
    imports: {
      before: `import { once } from 'node:events'\nimport express from 'express'\n`,
      after: `import { communityMiddleware } from 'folkmoot/node'\n`,
    },
    serve: `  const app = express()
  app.use(communityMiddleware(community))
  app.get('/', (_request, response) => response.type('text').send(home))
  // A signature covers the bytes that were sent, so this route comes before any body parser.
  app.post('/webhooks', async (request, response) => {
    const result = await receive(request)
    response.status(result.status).send(await result.text())
  })
  const server = app.listen(port, host)
  await once(server, 'listening')
  const { port: taken } = server.address()
  const close = () => new Promise((closed) => server.close(closed))
`,
  },
  fastify: {
    packages: { fastify: '^5.12.8' },
    imports: { before: `import Fastify from 'fastify'\n`, after: `import { communityPlugin } from 'folkmoot/fastify'\n` },
    serve: `  const app = Fastify()
  await app.register(communityPlugin(community))
  app.get('/', () => home)
  await app.register(async (webhooks) => {
    // A signature covers the bytes that were sent, so these routes parse nothing.
    webhooks.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    webhooks.removeContentTypeParser('application/json')
    webhooks.post('/webhooks', { bodyLimit: 16 * 1024 * 1024 }, async (request, reply) => {
      const result = await receive(request)
      return reply.code(result.status).send(await result.text())
    })
  })
  await app.listen({ port, host })
  const { port: taken } = app.server.address()
  const close = () => app.close()
`,
  },
  hono: {
    packages: { '@hono/node-server': '^2.1.8', hono: '^4.13.19' },
    imports: {
      before: `import { once } from 'node:events'\nimport { serve } from '@hono/node-server'\n`,
      after: `import { communityMiddleware } from 'folkmoot/hono'\n`,
    },
    serve: `  const app = new Hono()
  app.use(communityMiddleware(community))
  app.get('/', (context) => context.text(home))
  app.post('/webhooks', (context) => receive(context.req.raw))
  const server = serve({ fetch: app.fetch, port, hostname: host })
  await once(server, 'listening')
  const { port: taken } = server.address()
  const close = () => new Promise((closed) => server.close(closed))
`,
  },
}

export function appFile(host: ProjectHost): string {
  const { imports, serve } = hostParts[host]
  return `/** The API of your community, the relay that delivers its webhooks, and a receiver of them, in one server. */
${imports.before}import { createCommunity } from 'folkmoot'
${imports.after}import { rateLimits } from 'folkmoot/rate-limits'
import { startRelay } from 'folkmoot/relay'
${host === 'hono' ? "import { Hono } from 'hono'\n" : ''}import { createReceiver } from './receiver.js'

export async function startApp({ storage, port, host, subdomain, ownerEmail, publicUrl, encryptionKeys = [], onEvent }) {
  // With a public address, a proxy terminates TLS. Without one you are developing, on plain HTTP.
  const local = publicUrl === undefined
  const community = createCommunity({
    storage,
    encryptionKeys,
    rateLimiter: rateLimits(),
    ...(local ? { allowHttp: true } : { publicUrl, trustProxy: true }),
  })

  const home = \`The API is at /admin/v1/networks/\${subdomain}. README.md has a first request.\\n\`
  const endpoint = Promise.withResolvers()
  const receive = createReceiver(endpoint.promise, onEvent)
${serve}
  const url = publicUrl ?? \`http://127.0.0.1:\${taken}\`
  const network = await findOrCreateNetwork(community, subdomain, ownerEmail)
  const relay = await startRelay({
    storage,
    encryptionKeys,
    allowHttp: local,
    allowPrivate: local,
    onAttempt: ({ outcome, event_type, reason }) =>
      outcome === 'delivered' || console.error(\`\${event_type} was not delivered: \${reason}\`),
  })
  endpoint.resolve(await registerReceiver(community, network.id, \`\${url}/webhooks\`))
  // Last, because the key can be shown only once: a start that fails makes none.
  const token = await firstKey(community, network.id)

  return {
    url,
    network,
    token,
    async stop() {
      await relay.stop()
      await close()
      await community.close()
    },
  }
}

async function findOrCreateNetwork(community, subdomain, email) {
  const owner = { email, first_name: 'Ada', last_name: 'Ash' }
  return (
    (await community.networks.find(subdomain)) ??
    (await community.networks.create({ subdomain, title: 'My community', owner })).network
  )
}

/** The webhook endpoint of this app. It's known by its name, so that it moves along when the app's address changes. */
async function registerReceiver(community, network, url) {
  const name = 'Receiver of the app'
  const known = (await community.endpoints.list(network)).find((endpoint) => endpoint.name === name)
  if (known && known.url !== url) await community.endpoints.update(network, known.id, { url, token: null })
  // The first start makes its token and its signing secret. A token does not move to another server: there it gets a new one.
  const { id } = await community.endpoints.upsert({ network, url, name, token: true, secrets: true })
  return community.endpoints.reveal(network, id)
}

/** A key for the API, unless there is one: only its hash is stored, so later starts can't show it. */
async function firstKey(community, network) {
  if ((await community.keys.list(network)).length > 0) return undefined
  return (await community.keys.create({ network, name: 'First key', scopes: ['*'] })).token
}
`
}
