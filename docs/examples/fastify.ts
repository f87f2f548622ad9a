/** The API next to an application of Fastify 5: `node fastify.ts`. */
import Fastify from 'fastify'
import { communityPlugin } from 'folkmoot/fastify'
import { closeOnSignal, host, openCommunity, port, uploadAt } from './community.ts'

const app = Fastify({ logger: true, requestIdHeader: 'x-request-id' })
const community = await openCommunity((fault) => app.log.error(fault))

app.addHook('onRequest', async (request, reply) => {
  reply.header('x-request-id', request.id)
})
await app.register(communityPlugin(community))
app.get('/about', () => ({ inFlight: community.inFlight() }))
app.post('/own', (request) => request.body)
app.get('/assets/:name', async (request, reply) => (await uploadAt(request.url)) ?? reply.callNotFound())
app.setNotFoundHandler((_request, reply) => reply.code(404).send('your 404'))

await app.listen({ port, host })
closeOnSignal(community, () => app.close())
