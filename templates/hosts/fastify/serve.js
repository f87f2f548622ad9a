/** What the server serves: the API, the admin panel, the receiver of webhooks, and a health check. */
import Fastify from 'fastify'
import { communityPlugin, panelPlugin } from 'folkmoot/fastify'
import { createPanel } from 'folkmoot/panel'

/**
 * Who may use the admin panel, at /admin/panel/. Until you check your own session here, no one gets in. The second argument is
 * Fastify's request. Return the visitor: `{ actor: 'ada@example.org', networks: 'all', access: 'all' }`.
 */
const authorize = (_request, _fastify) => null

export async function serve({ community, relay, receive, publicUrl, port, host }) {
  const app = Fastify()
  await app.register(communityPlugin(community))
  await app.register(panelPlugin(createPanel(community, { relay: relay.admin, publicUrl, authorize })))
  app.get('/health', async (_request, reply) => {
    const { ready } = await relay.status()
    return reply.code(ready ? 200 : 503).send()
  })
  await app.register(async (webhooks) => {
    // A signature covers the bytes that were sent, so these routes parse nothing.
    webhooks.removeAllContentTypeParsers()
    webhooks.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    webhooks.post('/webhooks', { bodyLimit: 16 * 1024 * 1024 }, async (request, reply) => {
      const result = await receive({ method: request.method, headers: request.headers, body: request.body })
      return reply.code(result.status).send(await result.text())
    })
  })
  app.get('/', () => 'The API is at /admin/v1/, and the panel at /admin/panel/.\n')

  await app.listen({ port, host })
  return {
    port: app.server.address().port,
    close: () => app.close(),
  }
}
