/** The API next to an application of Bun: `bun bun.ts`. */
import { closeOnSignal, host, openCommunity, port, print, uploadAt } from './community.ts'

const community = await openCommunity()

async function application(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (request.method === 'GET' && pathname === '/about') return Response.json({ inFlight: community.inFlight() })
  if (request.method === 'POST' && pathname === '/own') return Response.json(await request.json())
  return (await uploadAt(pathname)) ?? new Response('your 404', { status: 404 })
}

const server = Bun.serve({
  port,
  hostname: host,
  async fetch(request) {
    const id = request.headers.get('x-request-id') ?? crypto.randomUUID()
    const response = (await community.handle(request, { requestId: id })) ?? (await application(request))
    response.headers.set('x-request-id', id)
    print({ id, method: request.method, path: new URL(request.url).pathname, status: response.status })
    return response
  },
})
closeOnSignal(community, () => server.stop())
