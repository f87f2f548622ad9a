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
      if (request.url !== '/webhooks') return response.writeHead(404).end('Not found')
      const answer = await receive(request).catch((error) => {
        console.error(error)
        return new Response(null, { status: 500 })
      })
      response.writeHead(answer.status).end(await answer.text())
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
  // A signature covers the bytes that were sent, so this route comes before any body parser.
  app.post('/webhooks', async (request, response) => {
    const answer = await receive(request)
    response.status(answer.status).send(await answer.text())
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
  await app.register(async (webhooks) => {
    // A signature covers the bytes that were sent, so these routes parse nothing.
    webhooks.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    webhooks.removeContentTypeParser('application/json')
    webhooks.post('/webhooks', { bodyLimit: 16 * 1024 * 1024 }, async (request, reply) => {
      const answer = await receive(request)
      return reply.code(answer.status).send(await answer.text())
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
  const { network, token } = await firstStart(community, subdomain, ownerEmail)

  const endpoint = Promise.withResolvers()
  const receive = createReceiver(endpoint.promise, onEvent)
${serve}
  const url = (publicUrl ?? \`http://127.0.0.1:\${taken}\`).replace(/\\/$/, '')
  // The first start makes its key and its signing secret.
  const address = { network_id: network.id, url: \`\${url}/webhooks\` }
  endpoint.resolve(await community.endpoints.upsert({ ...address, key: true, secrets: true }))
  const relay = await startRelay({ outbox: storage, encryptionKeys, allowHttp: local, allowPrivate: local })

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

/** The network and a key for its API. The first start makes both; later starts have no token, as only a hash is stored. */
async function firstStart(community, subdomain, email) {
  const owner = { email, first_name: 'Ada', last_name: 'Ash' }
  const network =
    (await community.networks.find(subdomain)) ??
    (await community.networks.create({ subdomain, title: 'My community', owner })).network
  if ((await community.keys.list(network.id)).length > 0) return { network }
  const { token } = await community.keys.create({ network_id: network.id, name: 'First key', scopes: ['*'] })
  return { network, token }
}
`
}
