/** What the server serves: the API, the admin panel, the receiver of webhooks, and a health check. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { communityMiddleware, panelMiddleware, toNodeListener } from 'folkmoot/node'
import { type Authorize, createPanel } from 'folkmoot/panel'
import type { Parts } from './app.ts'

/**
 * Who may use the admin panel, at /admin/panel/. Until you check your own session here, no one gets in. The second argument is
 * Node's request. Return the visitor: `{ actor: 'ada@example.org', networks: 'all', access: 'all' }`.
 */
const authorize: Authorize<IncomingMessage> = (_request, _incoming) => null

export async function serve({ community, relay, receive, publicUrl, port, host }: Parts) {
  const api = communityMiddleware(community)
  const pages = panelMiddleware(createPanel(community, { relay: relay.admin, publicUrl, authorize }))
  const routes = toNodeListener({
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname === '/webhooks') return receive(request)
      if (pathname === '/health') return new Response(null, { status: (await relay.status()).ready ? 200 : 503 })
      if (pathname === '/') return new Response('The API is at /admin/v1/, and the panel at /admin/panel/.\n')
      return new Response('Not found', { status: 404 })
    },
  })

  const server = createServer((request, response) => {
    api(request, response, () => pages(request, response, () => routes(request, response)))
  })
  await once(server.listen(port, host), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((closed) => server.close(closed)),
  }
}
