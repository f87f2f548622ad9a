import { createServer } from 'node:http'
import { panelMiddleware, toNodeListener } from '../../adapters/http/node.ts'
import { memoryStorage } from '../../adapters/storage/memory.ts'
import { createCommunity } from '../../lib/index.ts'
import { createPanel, type PanelOptions, type Visitor } from '../../lib/panel/index.ts'
import type { Storage } from '../../lib/storage/contract.ts'

/** A site with the API and the panel on loopback, in this process. */
export async function startSite(
  visitor: () => Visitor | null,
  options: Partial<PanelOptions> = {},
  storage: Storage = memoryStorage(),
) {
  const community = createCommunity({ storage, allowHttp: true })
  for (const [id, subdomain, title] of [
    ['1', 'paint-pals', 'Paint Pals'],
    ['2', 'other', 'Other'],
  ] as const)
    await community.networks.create({
      ...{ id, subdomain, title, service_plan: 'unlimited' },
      owner: { email: `host${id}@example.org`, first_name: 'Ada', last_name: 'Ash' },
    })
  const panel = createPanel(community, { authorize: visitor, ...options })
  const middleware = panelMiddleware(panel)
  const api = toNodeListener(community)
  const server = createServer((request, response) => middleware(request, response, () => api(request, response)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const origin = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
  return {
    community,
    origin,
    panel: `${origin}/admin/panel`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await community.close()
    },
  }
}
