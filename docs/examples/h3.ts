/** The API next to an application of h3 2, the server of Nitro 3: `node h3.ts`. */
import { randomUUID } from 'node:crypto'
import { H3, serve, toResponse } from 'h3'
import { closeOnSignal, host, openCommunity, port, print, uploadAt } from './community.ts'

const community = await openCommunity()
const app = new H3({ silent: true })
const missing = () => new Response('your 404', { status: 404 })

app.use(async (event, next) => {
  const id = event.req.headers.get('x-request-id') ?? randomUUID()
  const { method } = event.req
  event.context['id'] = id
  const response = await toResponse(await next(), event)
  response.headers.set('x-request-id', id)
  print({ id, method, path: event.url.pathname, status: response.status })
  return response
})
app.use((event) => community.handle(event.req, { requestId: event.context['id'] }))
app.get('/assets/**', async (event) => (await uploadAt(event.url.pathname)) ?? missing())
app.get('/about', () => ({ inFlight: community.inFlight() }))
app.post('/own', (event) => event.req.json())
app.all('/**', missing)

const server = serve(app, { port, hostname: host, silent: true, gracefulShutdown: false })
closeOnSignal(community, () => server.close())
