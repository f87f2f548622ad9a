/** The API next to an application of Express 5: `node express.ts`. */
import { randomUUID } from 'node:crypto'
import { pipeline } from 'node:stream'
import express from 'express'
import { communityMiddleware } from 'folkmoot/node'
import { closeOnSignal, host, openCommunity, port, print, uploadAt } from './community.ts'

const community = await openCommunity()
const app = express()

app.use((request, response, next) => {
  const id = request.get('x-request-id') ?? randomUUID()
  response.set('x-request-id', id)
  response.on('finish', () => print({ id, method: request.method, path: request.originalUrl, status: response.statusCode }))
  next()
})
app.use(communityMiddleware(community, { requestId: (_, response) => response.getHeader('x-request-id') }))
app.use(express.json())
app.get('/assets/:name', async (request, response, next) => {
  const upload = await uploadAt(request.path)
  if (upload?.body) pipeline(upload.body, response.setHeaders(upload.headers), () => {})
  else next()
})
app.get('/about', (_request, response) => void response.json({ inFlight: community.inFlight() }))
app.post('/own', (request, response) => void response.json(request.body))
app.use((_request, response) => void response.status(404).send('your 404'))

const server = app.listen(port, host)
closeOnSignal(community, () => new Promise((closed) => server.close(closed)))
