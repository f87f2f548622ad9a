/** The API over one storage, in a process of its own: `api.ts memory:` or `api.ts lowdb:PATH`, and how many members. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNodeListener } from '../../adapters/http/node.ts'
import { rateLimits } from '../../adapters/rate-limits/flexible.ts'
import { openStorage } from '../../daemon/server/storage-address.ts'
import { createCommunity } from '../../lib/index.ts'
import { scoped } from '../../lib/storage/scoped.ts'
import { members, spaces } from '../../lib/storage/tables.ts'

const [address = 'memory:', outbox, count = '1000'] = process.argv.slice(2)
const { storage } = await openStorage(address, outbox || undefined, () => {})
const community = createCommunity({ storage, allowHttp: true, rateLimiter: rateLimits() })
const owner = { email: 'host@example.org', first_name: 'Ada', last_name: 'Ash' }
await community.networks.create({ id: '1', subdomain: 'bench', title: 'Bench', service_plan: 'unlimited', owner })
const { token } = await community.keys.create({ network_id: '1', name: 'bench', scopes: ['*'] })
const stamp = { created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-01T00:00:00.000Z' }
const batch = 10_000
for (let first = 0; first < Number(count); first += batch)
  await storage.transaction(async (storageTx) => {
    const tx = scoped(storageTx, '1')
    for (let place = first; place < Math.min(first + batch, Number(count)); place++) {
      const email = `member${place}@example.org`
      await tx.insert(members, {
        ...stamp,
        id: String(100_000 + place),
        email,
        email_key: email,
        first_name: 'Bela',
        last_name: `Birch – ${place}`,
        bio: 'Paints by the sea, mostly in the morning, and writes about it in the evening. '.repeat(4),
        location: 'Delft',
        time_zone: 'Europe/Amsterdam',
      })
    }
    if (first === 0) await tx.insert(spaces, { ...stamp, id: '2001', name: 'Studio' })
  })
const server = createServer(toNodeListener(community))
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port, token }))
process.on('disconnect', () => process.exit(0))
process.on('message', (message) => message === 'cpu' && process.send?.({ cpu: process.cpuUsage() }))
