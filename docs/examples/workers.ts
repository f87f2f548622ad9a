/**
 * The API in a Cloudflare Worker, with the flag `nodejs_compat`. To try it on your machine:
 * `npx wrangler dev workers.ts --var ALLOW_HTTP:yes --var TOKEN:only-for-development`
 */
import { type Community, createCommunity } from 'folkmoot'
import { memoryStorage } from 'folkmoot/storage/memory'

interface Environment {
  /** The key of the API, a secret of the Worker. */
  readonly TOKEN: string
  readonly BASE_PATH?: string
  /** `yes` where a proxy in front of the Worker sets X-Forwarded-*. Cloudflare itself needs no such proxy. */
  readonly BEHIND_PROXY?: string
  /** `yes` for `wrangler dev`, which speaks plain HTTP. Leave it out in production. */
  readonly ALLOW_HTTP?: string
}

/** In memory it is gone with the Worker: in production, use a storage that keeps it. */
async function openCommunity({ TOKEN, BASE_PATH = '', BEHIND_PROXY, ALLOW_HTTP }: Environment): Promise<Community> {
  const storage = memoryStorage()
  const community = createCommunity({
    storage,
    basePath: BASE_PATH,
    trustProxy: BEHIND_PROXY === 'yes',
    allowHttp: ALLOW_HTTP === 'yes',
    authenticate: async (bearer) => (bearer === TOKEN ? principal : undefined),
    hooks: { onError: (error, context) => console.log(JSON.stringify({ fault: String(error), ...context })) },
  })
  const { network, owner } = await community.networks.create({
    subdomain: 'paint-pals',
    title: 'Paint Pals',
    owner: { email: 'ada@example.org', first_name: 'Ada', last_name: 'Ash' },
  })
  const principal = { network_id: network.id, member_id: owner.id, scopes: ['*'], key: 'worker' }
  for (const title of ['Oil', 'Chalk']) await community.call('tags.create', { network: network.id, body: { title } })
  return community
}

/** Opened by the first request, because a Worker may not draw ids before. */
let opened: Promise<Community> | undefined

async function application(request: Request, community: Community): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (request.method === 'GET' && pathname === '/about') return Response.json({ inFlight: community.inFlight() })
  if (request.method === 'POST' && pathname === '/own') return Response.json(await request.json())
  return new Response('your 404', { status: 404 })
}

export default {
  async fetch(request: Request, environment: Environment): Promise<Response> {
    opened ??= openCommunity(environment)
    const community = await opened
    const id = request.headers.get('x-request-id') ?? crypto.randomUUID()
    const response = (await community.handle(request, { requestId: id })) ?? (await application(request, community))
    response.headers.set('x-request-id', id)
    console.log(JSON.stringify({ id, method: request.method, path: new URL(request.url).pathname, status: response.status }))
    return response
  },
}
