/** The API next to an application of Koa 3: `node koa.ts`. */
import { randomUUID } from 'node:crypto'
import { bodyParser } from '@koa/bodyparser'
import { communityMiddleware } from 'folkmoot/koa'
import Koa from 'koa'
import { closeOnSignal, host, openCommunity, port, print, uploadAt } from './community.ts'

const community = await openCommunity()
const app = new Koa()

app.use(async (context, next) => {
  const id = context.get('x-request-id') || randomUUID()
  context.set('x-request-id', id)
  await next()
  print({ id, method: context.method, path: context.originalUrl, status: context.status })
})
app.use(communityMiddleware(community, { requestId: ({ res }) => res.getHeader('x-request-id') }))
app.use(bodyParser())
app.use(async (context) => {
  if (context.method === 'GET' && context.path === '/about') context.body = { inFlight: community.inFlight() }
  else if (context.method === 'POST' && context.path === '/own') context.body = context.request.body
  else context.body = (await uploadAt(context.path)) ?? context.throw(404, 'your 404')
})

const server = app.listen(port, host)
closeOnSignal(community, () => new Promise((closed) => server.close(closed)))
