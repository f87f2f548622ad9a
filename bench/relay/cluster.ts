/** One relay of several on a PostgreSQL database. The first one puts the backlog into the outbox. */

import { postgresAddress } from '../../adapters/sql/postgres/address.ts'
import { postgresStorage } from '../../adapters/storage/postgres.ts'
import { startRelay } from '../../daemon/relay/relay.ts'
import { ingestAll } from './ingested.ts'
import { asSender, eventOf, inGroups, key, secret } from './made.ts'

/** Endpoints, each of another network: relays share them out among themselves. */
const endpoints = 16

await asSender(async ({ count, url, keptAt, inFlight, ingested }) => {
  // The limit is the number of attempts in flight of each relay, however few endpoints are its share.
  const settings = { allowHttp: true, allowPrivate: true, maxInFlightPerEndpoint: inFlight, maxInFlight: inFlight }
  const start = async () => {
    await startRelay({ outbox: keptAt, settings, onFault: (what, error) => console.error(what, error) })
  }
  if (count === 0) return start
  const storage = await postgresStorage({ ...postgresAddress(keptAt), tables: [] })
  const networks = Array.from({ length: endpoints }, (_, place) => String(place + 1))
  const define = (enabled: boolean) =>
    storage.transaction((tx) =>
      tx.append(
        networks.map((network_id) => ({
          ...{ kind: 'endpoint', action: 'upsert', id: '1', network_id, url, key, secrets: [secret], events: null },
          ...{ audience: 'integration', enabled, order: 'none', rate_per_second: null },
        })),
      ),
    )
  await define(!ingested)
  // One commit for each event, as the API makes them; many at a time, so that making them does not take long.
  await inGroups(count, async (places) => {
    await Promise.all(
      places.map((place) =>
        storage.transaction((tx) => tx.append([{ ...eventOf(place), network_id: networks[place % endpoints] ?? '' }])),
      ),
    )
  })
  if (ingested) {
    await ingestAll(keptAt, count)
    await define(true)
  }
  await storage.close()
  return start
})
