/** An outbox in PostgreSQL, with the relay's store beside it, as relays that share one have them. */
import { rm } from 'node:fs/promises'
import { postgresStorage } from '../../../adapters/storage/postgres.ts'
import { relayHome } from '../../../daemon/relay/ingest/outbox-address.ts'
import { postgresAddress } from '../../support/postgres.ts'
import type { TestOutbox } from './support.ts'

let count = 0

export async function postgresOutbox(): Promise<TestOutbox> {
  const url = await postgresAddress()
  const schema = `relay_${process.pid}_${++count}`
  const address = `${url}?schema=${schema}`
  const storage = await postgresStorage({ url, schema, tables: [] })
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
}
