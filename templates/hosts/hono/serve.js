/** What the server serves: the API, the admin panel, the receiver of webhooks, and a health check. */
import { once } from 'node:events'
import { serve as listen } from '@hono/node-server'
import { communityMiddleware, panelMiddleware } from 'folkmoot/hono'
import { createPanel } from 'folkmoot/panel'
import { Hono } from 'hono'

/**
 * Who may use the admin panel, at /admin/panel/. Until you check your own session here, no one gets in. The second argument is
 * Hono's context. Return the visitor: `{ actor: 'ada@example.org', networks: 'all', access: 'all' }`.
 */
const authorize = (_request, _context) => null

export async function serve({ community, relay, receive, publicUrl, port, host }) {
  const app = new Hono()
  app.use(communityMiddleware(community))
  app.use(panelMiddleware(createPanel(community, { relay: relay.admin, publicUrl, authorize })))
  app.get('/health', async (context) => {
    const { ready } = await relay.status()
    return context.body(null, ready ? 200 : 503)
  })
  app.post('/webhooks', (context) => receive(context.req.raw))
  app.get('/', (context) => context.text('The API is at /admin/v1/, and the panel at /admin/panel/.\n'))

  const server = listen({ fetch: app.fetch, port, hostname: host })
  await once(server, 'listening')
  return {
    port: server.address().port,
    close: () => new Promise((closed) => server.close(closed)),
  }
}
