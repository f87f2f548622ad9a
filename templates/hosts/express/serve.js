/** What the server serves: the API, the admin panel, the receiver of webhooks, and a health check. */
import { once } from 'node:events'
import express from 'express'
import { communityMiddleware, panelMiddleware } from 'folkmoot/node'
import { createPanel } from 'folkmoot/panel'

/**
 * Who may use the admin panel, at /admin/panel/. Until you check your own session here, no one gets in. The second argument is
 * Express's request. Return the visitor: `{ actor: 'ada@example.org', networks: 'all', access: 'all' }`.
 */
const authorize = (_request, _express) => null

export async function serve({ community, relay, receive, publicUrl, port, host }) {
  const app = express()
  app.use(communityMiddleware(community))
  app.use(panelMiddleware(createPanel(community, { relay: relay.admin, publicUrl, authorize })))
  app.get('/health', async (_request, response) => {
    const { ready } = await relay.status()
    response.sendStatus(ready ? 200 : 503)
  })
  // A signature covers the bytes that were sent, so this route comes before any body parser.
  app.post('/webhooks', async (request, response) => {
    const result = await receive(request)
    response.status(result.status).send(await result.text())
  })
  app.get('/', (_request, response) => {
    response.type('text').send('The API is at /admin/v1/, and the panel at /admin/panel/.\n')
  })

  const server = app.listen(port, host)
  await once(server, 'listening')
  return {
    port: server.address().port,
    close: () => new Promise((closed) => server.close(closed)),
  }
}
