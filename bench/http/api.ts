/**
 * The API over one storage, in a separate process: `api.ts ADDRESS OUTBOX MEMBERS [HOOK]`. A storage that is empty is filled first;
 * one that outlives its process is then opened anew by the next.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { toNodeListener } from '../../adapters/http/node.ts'
import { rateLimits } from '../../adapters/rate-limits/index.ts'
import { openStorage } from '../../daemon/server/storage/open.ts'
import { createCommunity } from '../../lib/index.ts'
import { isSeeded, seed } from './seeded.ts'

const [address = 'memory:', outbox, count = '1000', hook] = process.argv.slice(2)
const begun = performance.now()
const { storage } = await openStorage(address, outbox || undefined, () => {})
const community = createCommunity({ storage, allowHttp: true, rateLimiter: rateLimits() })
if (await isSeeded(storage)) {
  const openSeconds = (performance.now() - begun) / 1000
  await serve(openSeconds)
} else {
  const seedSeconds = await seed(community, storage, Number(count), (seeded) => process.send?.({ seeded }))
  process.send?.({ seedSeconds })
  if (address.startsWith('memory:')) await serve(0)
  else await community.close()
}

async function serve(openSeconds: number): Promise<void> {
  const { token } = await community.keys.create({ network: '1', name: 'bench', scopes: ['*'] })
  if (hook) await community.endpoints.upsert({ network: '1', url: hook, token: true })
  const server = createServer(toNodeListener(community))
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port, token, openSeconds }))
  process.on('disconnect', () => process.exit(0))
  process.on('message', () => process.send?.({ cpu: process.cpuUsage(), rss: process.memoryUsage.rss() }))
}
