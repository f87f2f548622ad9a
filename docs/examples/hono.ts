/** The API next to an application of Hono, on Node: `node hono.ts`. */
import { serve } from '@hono/node-server'
import { communityMiddleware } from 'folkmoot/hono'
import { Hono } from 'hono'
import { requestId } from 'hono/request-id'
import { closeOnSignal, host, openCommunity, port, print, uploadAt } from './community.ts'

const community = await openCommunity()
const app = new Hono()

app.use(requestId(), async (context, next) => {
  await next()
  const { method, path } = context.req
  print({ id: context.get('requestId'), method, path, status: context.res.status })
})
app.use(communityMiddleware(community))
app.get('/assets/:name', async (context) => (await uploadAt(context.req.path)) ?? context.notFound())
app.get('/about', (context) => context.json({ inFlight: community.inFlight() }))
app.post('/own', async (context) => context.json(await context.req.json()))
app.notFound((context) => context.text('your 404', 404))

const server = serve({ fetch: app.fetch, port, hostname: host })
closeOnSignal(community, () => new Promise((closed) => server.close(closed)))
