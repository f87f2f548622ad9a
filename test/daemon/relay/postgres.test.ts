/** What every relay does, on the store that relays share in PostgreSQL. */
import { rm } from 'node:fs/promises'
import { describe } from 'vitest'
import { postgresStorage } from '../../../adapters/storage/postgres.ts'
import { relayHome } from '../../../daemon/relay/outbox-address.ts'
import { testPostgres } from '../../support/postgres.ts'
import { benchesOn } from './support.ts'

const server = await testPostgres()

benchesOn(async () => {
  const schema = server.newSchema()
  const address = `${server.url}?schema=${schema}`
  const storage = await postgresStorage({ url: server.url, schema, tables: [] })
  return {
    address,
    async append(commits) {
      for (const commit of commits) await storage.transaction((tx) => tx.append(commit))
    },
    async close() {
      await storage.close()
      await rm(relayHome(address), { recursive: true, force: true })
    },
  }
})

describe('on PostgreSQL', async () => {
  await import('./relay.test.ts')
  await import('./circuit.test.ts')
  await import('./host-notices.test.ts')
  await import('./rotation.test.ts')
  await import('./operator.test.ts')
  await import('./fresh-start.test.ts')
  await import('./order.test.ts')
  await import('./skip.test.ts')
})
